package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverContract;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** Every generation on both paths. One class each: Surefire counts no parameterised classes, and so would not see them fail. */
class SimulatedDriverContractTest {

    abstract static class OnSimulator extends DriverContract {

        private final String generation;
        private final SamplerPath path;
        private Driver driver;

        OnSimulator(String generation, SamplerPath path) {
            this.generation = generation;
            this.path = path;
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

    @Nested
    class Jna470 extends OnSimulator {
        Jna470() {
            super("470", SamplerPath.JNA);
        }
    }

    @Nested
    class Jna535_54 extends OnSimulator {
        Jna535_54() {
            super("535.54", SamplerPath.JNA);
        }
    }

    @Nested
    class Jna535_161 extends OnSimulator {
        Jna535_161() {
            super("535.161", SamplerPath.JNA);
        }
    }

    @Nested
    class Jna550 extends OnSimulator {
        Jna550() {
            super("550", SamplerPath.JNA);
        }
    }

    @Nested
    class Jna580 extends OnSimulator {
        Jna580() {
            super("580", SamplerPath.JNA);
        }
    }

    @Nested
    class Jna615 extends OnSimulator {
        Jna615() {
            super("615", SamplerPath.JNA);
        }
    }

    @Nested
    class Jni470 extends OnSimulator {
        Jni470() {
            super("470", SamplerPath.JNI);
        }
    }

    @Nested
    class Jni535_54 extends OnSimulator {
        Jni535_54() {
            super("535.54", SamplerPath.JNI);
        }
    }

    @Nested
    class Jni535_161 extends OnSimulator {
        Jni535_161() {
            super("535.161", SamplerPath.JNI);
        }
    }

    @Nested
    class Jni550 extends OnSimulator {
        Jni550() {
            super("550", SamplerPath.JNI);
        }
    }

    @Nested
    class Jni580 extends OnSimulator {
        Jni580() {
            super("580", SamplerPath.JNI);
        }
    }

    @Nested
    class Jni615 extends OnSimulator {
        Jni615() {
            super("615", SamplerPath.JNI);
        }
    }
}
