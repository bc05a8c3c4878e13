package dev.gpuwarden.nat.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProfileReaderTest {

    private static final List<GpuMetric> METRICS = List.of(
            GpuMetric.GRAPHICS_ENGINE_ACTIVE,
            GpuMetric.SM_ACTIVE,
            GpuMetric.SM_OCCUPANCY,
            GpuMetric.TENSOR_ACTIVE,
            GpuMetric.DRAM_ACTIVE,
            GpuMetric.FP64_ACTIVE,
            GpuMetric.FP32_ACTIVE,
            GpuMetric.FP16_ACTIVE,
            GpuMetric.PCIE_TRANSMIT_RATE,
            GpuMetric.PCIE_RECEIVE_RATE,
            GpuMetric.NVLINK_TRANSMIT_RATE,
            GpuMetric.NVLINK_RECEIVE_RATE);
    /** NVML_GPM_METRIC_* in the same order. */
    private static final int[] IDS = {1, 2, 3, 5, 10, 11, 12, 13, 20, 21, 61, 60};

    @TempDir
    Path folder;

    private SimNode hopper(String generation) {
        SimNode node = SimNode.of(generation, folder).set("gpu[0].gpm_supported", 1);
        for (int id : IDS) {
            node.set("gpu[0].gpm_milli[" + id + "]", id * 1500L);
        }
        return node;
    }

    private static List<Object> read(GpuFrame frame) {
        return METRICS.stream()
                .<Object>map(metric -> frame.present(metric) ? frame.raw(metric) : frame.absence(GpuFrame.slot(metric)))
                .toList();
    }

    private static List<Object> all(Absence cause) {
        return METRICS.stream().<Object>map(metric -> cause).toList();
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void secondSamplingIsComparedWithTheFirst(SamplerPath path) {
        try (Driver driver = hopper("550").openProfiling(path);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).isEqualTo(all(Absence.PENDING));
            long calls = frame.calls();
            sampler.sample(Cadence.SLOW, frame);
            // Percent become thousandths of a percent, MiB/s bytes per second.
            assertThat(read(frame))
                    .containsExactly(
                            1500L,
                            3000L,
                            4500L,
                            7500L,
                            15000L,
                            16500L,
                            18000L,
                            19500L,
                            30L << 20,
                            63L << 19,
                            183L << 19,
                            90L << 20);
            assertThat(frame.calls()).isEqualTo(calls + 1);
            assertThat(GpuMetric.TENSOR_ACTIVE.unit().toBase(7500)).isEqualTo(0.075);

            driver.reinitialise();
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).as("a sample of before").isEqualTo(all(Absence.PENDING));
            sampler.sample(Cadence.SLOW, frame);
            assertThat(frame.raw(GpuMetric.SM_ACTIVE)).isEqualTo(3000);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"470 NO_SYMBOL", "550 NOT_SUPPORTED"})
    void missingProfileHasItsCause(String generationAndCause) {
        String[] words = generationAndCause.split(" ");
        // An A100 on 550 has the functions, and no GPM.
        try (Driver driver = SimNode.of(words[0], folder).openProfiling(SamplerPath.AUTO);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).isEqualTo(all(Absence.valueOf(words[1])));
        }
    }

    @Test
    void partitionIsSampledByItsGpuInstance() {
        SimNode node = hopper("550").partition(0, 3, 0).partition(1, 5, 0);
        try (Driver driver = node.openProfiling(SamplerPath.AUTO);
                Sampler sampler = driver.migSampler(0, 1)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            node.set("gpu[0].mig[0].gi", 6);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(frame.raw(GpuMetric.SM_ACTIVE)).isEqualTo(3000);
            node.set("gpu[0].mig[1].gi", 7);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(frame.reading(GpuMetric.SM_ACTIVE))
                    .as("there is no GPU instance 5 any more")
                    .isEqualTo(Reading.absent(Absence.FAILED, 2, ""));
        }
    }

    @Test
    void aSamplerThatHangsInASampleCanBeClosed() throws Exception {
        SimNode node = hopper("550");
        try (Driver driver = node.openProfiling(SamplerPath.AUTO)) {
            Sampler sampler = driver.sampler(0);
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            node.hang(0, "nvmlGpmSampleGet");
            CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> sampler.sample(Cadence.SLOW, frame));
            node.awaitHanging(0);
            sampler.close();
            assertThat(stuck).isNotDone();
            node.heal(0);
            stuck.get(20, TimeUnit.SECONDS);
            assertThat(frame.raw(GpuMetric.SM_ACTIVE)).isEqualTo(3000);
        }
    }

    @Test
    void isOffByDefault() {
        try (Driver driver = hopper("550").open(SamplerPath.AUTO);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).isEqualTo(all(Absence.OFF));
        }
    }

    @Test
    void missingMetricDoesNotAffectOthers() {
        SimNode node = hopper("580").set("gpu[0].gpm_milli[11]", Long.MIN_VALUE);
        try (Driver driver = node.openProfiling(SamplerPath.AUTO);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(frame.reading(GpuMetric.FP64_ACTIVE)).isEqualTo(Reading.absent(Absence.NOT_SUPPORTED, 3, ""));
            assertThat(frame.raw(GpuMetric.FP32_ACTIVE)).isEqualTo(18000);
        }
    }

    @Test
    void impossibleValueIsRefused() {
        SimNode node = hopper("580").lie(0, "nvmlGpmMetricsGet", "LIE_NAN");
        try (Driver driver = node.openProfiling(SamplerPath.AUTO);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).isEqualTo(all(Absence.IMPLAUSIBLE));
        }
    }

    @Test
    void aSampleThatFailedIsComparedWithNothing() {
        SimNode node = hopper("580");
        try (Driver driver = node.openProfiling(SamplerPath.AUTO);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.SLOW, frame);
            node.error(0, "nvmlGpmSampleGet", 4);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).isEqualTo(all(Absence.NO_PERMISSION));
            node.heal(0);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(read(frame)).isEqualTo(all(Absence.PENDING));
        }
    }
}
