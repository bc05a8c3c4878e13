package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.core.port.CgroupLimits.Limit;
import dev.gpuwarden.core.port.CgroupLimits.Use;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits of memory for control groups. The simulated driver and NVIDIA's header are all that they were compared with. */
class CgroupLimitsTest {

    private static final long GIB = 1L << 30;

    @TempDir
    Path folder;

    /** The topmost group of cgroup v2 that this process sees. */
    private static String group() throws IOException {
        try (Stream<String> mounts = Files.lines(Path.of("/proc/self/mountinfo"))) {
            return mounts.filter(line -> line.contains(" - cgroup2 "))
                    .map(line -> line.split(" ")[4])
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("expected a mounted cgroup v2, found none"));
        }
    }

    private static Absence cause(Reading<?> reading) {
        return ((Reading.Absent<?>) reading).cause();
    }

    @Test
    void aLimitIsReadAsItWasSetAndGoes() throws IOException {
        try (Driver driver = SimNode.of("615", folder).open(SamplerPath.JNA)) {
            CgroupLimits limits = driver.cgroupLimits();
            String gpu = driver.identify(1).uuid().asOptional().orElseThrow();
            Limit limit = new Limit(2 * GIB, OptionalLong.of(3 * GIB));
            assertThat(cause(limits.get(gpu, group()))).isEqualTo(Absence.NO_DATA);
            assertThat(limits.set(gpu, group(), limit)).isEqualTo(Reading.of(limit));
            assertThat(limits.get(gpu, group())).isEqualTo(Reading.of(new Use(limit, 0)));
            assertThat(limits.set(gpu, group(), new Limit(GIB, OptionalLong.empty())))
                    .isInstanceOf(Reading.Present.class);
            assertThat(limits.get(gpu, group()).map(use -> use.limit().hardBytes()))
                    .isEqualTo(Reading.of(OptionalLong.empty()));
            assertThat(limits.set(gpu, group(), Limit.NONE)).isEqualTo(Reading.of(Limit.NONE));
            assertThat(cause(limits.get(gpu, group()))).isEqualTo(Absence.NO_DATA);
        }
    }

    @Test
    void aRefusalOfTheDriverHasItsCause() throws IOException {
        try (Driver driver = SimNode.of("615", folder).open(SamplerPath.JNA)) {
            CgroupLimits limits = driver.cgroupLimits();
            String gpu = driver.identify(0).uuid().asOptional().orElseThrow();
            Limit limit = new Limit(GIB, OptionalLong.empty());
            // nvml.h 13.5: NVML_ERROR_OPERATING_SYSTEM if the path cannot be opened.
            assertThat(limits.set(gpu, folder.toString(), limit))
                    .isEqualTo(Reading.absent(Absence.FAILED, 17, "nvmlDeviceSetMemoryLimits_v1"));
            assertThat(limits.set(gpu, group(), new Limit(GIB << 20, OptionalLong.empty())))
                    .isEqualTo(Reading.absent(
                            Absence.FAILED, NvmlReturn.INVALID_ARGUMENT, "nvmlDeviceSetMemoryLimits_v1"));
            assertThat(limits.set("GPU-none", group(), limit)).isInstanceOf(Reading.Absent.class);
        }
    }

    @Test
    void anOlderDriverHasNone() throws IOException {
        try (Driver driver = SimNode.of("580", folder).open(SamplerPath.JNA)) {
            String gpu = driver.identify(0).uuid().asOptional().orElseThrow();
            assertThat(cause(driver.cgroupLimits().set(gpu, group(), Limit.NONE)))
                    .isEqualTo(Absence.NO_SYMBOL);
            assertThat(cause(driver.cgroupLimits().get(gpu, group()))).isEqualTo(Absence.NO_SYMBOL);
        }
    }
}
