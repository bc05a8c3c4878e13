package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverContract;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.nat.driver.NvmlProvider;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The same contract on the GPU of this machine, the library found by its SONAME: `./gpuwarden test native RealDriverContractTest`. */
@Tag("gpu")
class RealDriverContractTest {

    abstract static class OnThisMachine extends DriverContract {

        private final SamplerPath path;
        private Driver driver;

        OnThisMachine(SamplerPath path) {
            this.path = path;
        }

        @BeforeEach
        void open() {
            Opening<Driver> opening = new NvmlProvider().open(new DriverOptions(List.of(), path));
            if (!(opening instanceof Opening.Opened<Driver> opened)) {
                throw new AssertionError(opening.toString());
            }
            driver = opened.driver();
        }

        @AfterEach
        void close() {
            driver.close();
        }

        @Override
        protected Driver driver() {
            return driver;
        }

        /** A reset is refused for each open file. Those of a simulated driver are not in /dev. */
        @Test
        void filesOfReleasedGpusAreClosed() throws IOException {
            assertThat(openGpus()).isNotEmpty();
            driver.close();
            assertThat(openGpus()).isEmpty();
        }

        private static List<String> openGpus() throws IOException {
            List<String> names = new ArrayList<>();
            try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
                for (Path link : open) {
                    try {
                        names.add(Files.readSymbolicLink(link).toString());
                    } catch (NoSuchFileException e) {
                        // The listing's own file.
                    }
                }
            }
            return names.stream().filter(name -> name.matches(".*/nvidia\\d+")).toList();
        }
    }

    @Nested
    class Jna extends OnThisMachine {
        Jna() {
            super(SamplerPath.JNA);
        }
    }

    @Nested
    class Jni extends OnThisMachine {
        Jni() {
            super(SamplerPath.JNI);
        }
    }
}
