package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The CUDA driver of two simulated H100. */
abstract class TwoBoardsFixture {

    @TempDir
    Path folder;

    SimNode node;
    ComputeDriver driver;

    @BeforeEach
    void start() {
        node = SimNode.of("550", folder).set("gpu[0].cores", 16896).set("gpu[1].cores", 16896);
        driver = ((Opened<ComputeDriver>) new CudaProvider()
                        .open(new DriverOptions(List.of(node.folder().toString()), SamplerPath.AUTO)))
                .driver();
    }
}
