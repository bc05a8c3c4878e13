package dev.gpuwarden.nat.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.nat.sim.SimNode;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A tick allocates nothing, so that an idle daemon has no garbage to collect. */
class SamplerCostTest {

    private static final int TICKS = 1000;

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aThousandTicksAllocateNothing(SamplerPath path, @TempDir Path folder) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        try (Driver driver =
                        SimNode.of("580", folder).set("gpu[0].gpm_supported", 1).openProfiling(path);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            tick(sampler, frame, 10);
            threads.getThreadAllocatedBytes(self);
            long before = threads.getThreadAllocatedBytes(self);
            tick(sampler, frame, TICKS);
            long after = threads.getThreadAllocatedBytes(self);
            assertThat(after - before).isZero();
            assertThat(frame.calls()).isPositive();
        }
    }

    private static void tick(Sampler sampler, GpuFrame frame, int times) {
        for (int i = 0; i < times; i++) {
            sampler.sample(Cadence.FAST, frame);
            sampler.sample(Cadence.SLOW, frame);
        }
    }
}
