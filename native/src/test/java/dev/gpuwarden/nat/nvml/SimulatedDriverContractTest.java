package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverContract;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every generation on both paths. */
@ParameterizedClass
@MethodSource("drivers")
class SimulatedDriverContractTest extends DriverContract {

    @Parameter(0)
    String generation;

    @Parameter(1)
    SamplerPath path;

    private Driver driver;

    static Stream<Arguments> drivers() {
        return Stream.of("470", "535.54", "535.161", "550", "580", "615")
                .flatMap(generation ->
                        Stream.of(SamplerPath.JNA, SamplerPath.JNI).map(path -> arguments(generation, path)));
    }

    @BeforeEach
    void open(@TempDir Path folder) {
        SimNode node = SimNode.of(generation, folder);
        driver = node.process(0, 0, 4242, 1 << 30, "PROCESS_COMPUTE").open(path);
        assertThat(driver.info().samplerPath()).startsWith(path.name().toLowerCase(Locale.ROOT));
    }

    @AfterEach
    void close() {
        driver.close();
    }

    @Override
    protected Driver driver() {
        return driver;
    }
}
