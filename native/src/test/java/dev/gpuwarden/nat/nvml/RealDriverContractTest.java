package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverContract;
import dev.gpuwarden.core.port.DriverOpening;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.nat.driver.NvmlProvider;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

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
            DriverOpening opening = new NvmlProvider().open(new DriverOptions(List.of(), path));
            if (!(opening instanceof DriverOpening.Opened opened)) {
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
