package dev.gpuwarden.nat.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A call that does not come back keeps its own sampler, and nothing else. */
class HangingDriverTest {

    private static final String SLOW_TO_ANSWER = "nvmlDeviceGetPowerUsage";

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aHungGpuLeavesTheOthersAndItsSamplerCanBeClosed(SamplerPath path) throws Exception {
        SimNode node = SimNode.of("550", folder).set("fault[0].gpu", 0);
        try (Driver driver = node.open(path);
                Sampler other = driver.sampler(1)) {
            node.hang(0, SLOW_TO_ANSWER);
            Sampler hung = driver.sampler(0);
            GpuFrame frame = new GpuFrame();
            CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> hung.sample(Cadence.FAST, frame));
            node.awaitHanging(0);

            GpuFrame others = new GpuFrame();
            other.sample(Cadence.FAST, others);
            assertThat(others.present(GpuMetric.POWER_USAGE)).isTrue();

            hung.close();
            assertThat(stuck).isNotDone();
            assertThat(frame.sampledAtNanos(Cadence.FAST)).isZero();

            node.heal(0);
            stuck.get(20, TimeUnit.SECONDS);
            assertThat(frame.present(GpuMetric.POWER_USAGE)).isTrue();
            assertThatThrownBy(() -> hung.sample(Cadence.FAST, frame)).isInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aHungCallKeepsItsLibraryLoadedUntilItReturns(SamplerPath path) throws Exception {
        SimNode node = SimNode.of("550", folder);
        Driver driver = node.open(path);
        Sampler hung = driver.sampler(0);
        node.hang(0, SLOW_TO_ANSWER);
        CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> hung.sample(Cadence.FAST, new GpuFrame()));
        node.awaitHanging(0);
        driver.close();
        assertThat(isLoaded()).isTrue();
        node.heal(0);
        stuck.get(20, TimeUnit.SECONDS);
        assertThat(isLoaded()).isFalse();
    }

    private boolean isLoaded() throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains(folder + "/libnvidia-ml");
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aSecondSamplingAtTheSameTimeIsAnErrorOfTheCaller(SamplerPath path) throws Exception {
        SimNode node = SimNode.of("550", folder);
        try (Driver driver = node.open(path);
                Sampler sampler = driver.sampler(0)) {
            node.hang(0, SLOW_TO_ANSWER);
            CompletableFuture<Void> stuck =
                    CompletableFuture.runAsync(() -> sampler.sample(Cadence.FAST, new GpuFrame()));
            node.awaitHanging(0);
            assertThatThrownBy(() -> sampler.sample(Cadence.FAST, new GpuFrame()))
                    .isInstanceOf(IllegalStateException.class);
            node.heal(0);
            stuck.get(20, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aCopyOfAFrameIsRefusedBeforeNativeCodeSeesIt(SamplerPath path) {
        try (Driver driver = SimNode.of("550", folder).open(path);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame copy = new GpuFrame().copy();
            assertThatThrownBy(() -> sampler.sample(Cadence.FAST, copy)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
