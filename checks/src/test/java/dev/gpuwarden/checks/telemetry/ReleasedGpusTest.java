package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Releasing GPUs and taking them again when the driver fails in between, in virtual time. */
class ReleasedGpusTest {

    private static final Reading.Absent<Boolean> MISMATCH = new Reading.Absent<>(Absence.FAILED, 18, "nvmlInit_v2");

    private final VirtualNode node = new VirtualNode();

    private Optional<String> release(Map<Integer, String> gpus) {
        CompletableFuture<Optional<String>> done = node.sampler.release(gpus);
        step();
        return done.getNow(Optional.of("not done"));
    }

    private void step() {
        node.pass(Duration.ofSeconds(10));
        node.sampler.manager.step();
    }

    private DriverState driver() {
        return node.sampler.snapshot().driver();
    }

    private void expectAllRead() {
        node.workers.forEach(GpuWorker::turn);
        assertThat(driver()).isInstanceOf(DriverState.Running.class);
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
        assertThat(node.gpu(1).state()).isEqualTo(GpuState.ANSWERING);
    }

    @Test
    void releasedGpusStayReleasedUntilTheyAreTakenAgain() {
        node.opened("GPU-a", "GPU-b");
        assertThat(release(Map.of(0, "a reset"))).isEmpty();
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.RELEASED);
        node.driver.calls.clear();
        for (int i = 0; i < 100; i++) {
            step();
        }
        assertThat(node.driver.calls).isEmpty();
        assertThat(release(Map.of())).isEmpty();
        assertThat(node.driver.calls).contains("reinitialise");
        expectAllRead();
    }

    @Test
    void upgradedDriverIsOpenedAgainWhenItsGpusAreTakenAgain() {
        node.opened("GPU-a", "GPU-b");
        assertThat(release(Map.of(0, "an upgrade", 1, "an upgrade"))).isEmpty();
        assertThat(node.driver.closed).isTrue();
        assertThat(driver()).as("no fault").isInstanceOf(DriverState.Running.class);
        assertThat(node.gpu(1).state()).isEqualTo(GpuState.RELEASED);

        node.opening = new Opening.Unavailable<>(Reason.VERSION_MISMATCH, 18, "nvmlInit_v2");
        assertThat(release(Map.of())).isEmpty();
        assertThat(driver()).isEqualTo(new DriverState.Unavailable(Reason.VERSION_MISMATCH, 18, "nvmlInit_v2"));
        assertThat(node.gpu(1).state()).isEqualTo(GpuState.GONE);

        FakeDriver next = node.nextDriver("GPU-a", "GPU-b");
        step();
        expectAllRead();
        assertThat(next.calls).contains("FAST 0", "FAST 1");
    }

    @Test
    void closedDriverIsOpenedAfterTheLastOfItsGpusWasTakenAgain() {
        node.opened("GPU-a", "GPU-b");
        assertThat(release(Map.of(0, "a reset", 1, "an upgrade"))).isEmpty();
        FakeDriver next = node.nextDriver("GPU-a", "GPU-b");
        assertThat(release(Map.of(1, "an upgrade"))).isEmpty();
        assertThat(next.calls).isEmpty();
        assertThat(node.gpu(0).detail()).isEqualTo("released for an upgrade of another GPU");
        assertThat(release(Map.of())).isEmpty();
        expectAllRead();
        assertThat(next.calls).contains("FAST 0", "FAST 1");
    }

    @Test
    void failedReleaseIsGivenUpAndTheDriverOpenedAgain() {
        node.opened("GPU-a", "GPU-b");
        node.driver.reinitialised = MISMATCH;
        assertThat(release(Map.of(0, "a reset"))).isPresent();
        node.driver.reinitialised = Reading.of(true);
        step();
        expectAllRead();
    }

    @Test
    void nothingIsOpenedForADriverThatComesWhileItsGpusAreReleased() {
        node.opening = new Opening.Unavailable<>(Reason.DRIVER_NOT_LOADED, 9, "nvmlInit_v2");
        step();
        assertThat(release(Map.of(0, "an upgrade"))).isEmpty();
        node.opening = new Opening.Opened<>(node.driver);
        node.list("GPU-a", "GPU-b");
        step();
        assertThat(driver()).isInstanceOf(DriverState.Unavailable.class);
        assertThat(release(Map.of())).isEmpty();
        expectAllRead();
    }
}
