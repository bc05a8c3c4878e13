package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Opening, listing and initialising again, in virtual time. */
class DriverManagerTest {

    private final VirtualNode node = new VirtualNode();

    private DriverState driver() {
        return node.sampler.snapshot().driver();
    }

    @Test
    void stateIsOpeningBeforeTheDriverAnswers() {
        assertThat(driver()).isInstanceOf(DriverState.Opening.class);
    }

    @Test
    void absentDriverIsTriedAgain() {
        node.opening = new Opening.Unavailable<>(Reason.DRIVER_NOT_LOADED, 9, "nvmlInit_v2");
        long next = node.sampler.manager.step();
        assertThat(driver()).isEqualTo(new DriverState.Unavailable(Reason.DRIVER_NOT_LOADED, 9, "nvmlInit_v2"));
        assertThat(next - node.now).isEqualTo(Duration.ofSeconds(10).toNanos());

        node.opening = new Opening.Opened<>(node.driver);
        node.opened("GPU-a");
        assertThat(driver()).isEqualTo(new DriverState.Running(FakeDriver.INFO));
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.STARTING);
        assertThat(node.stats().driverOpenings()).isEqualTo(2);
    }

    @Test
    void hangingFirstListingIsASilentDriver() {
        node.driver.during.put("count", () -> {
            node.pass(Duration.ofSeconds(30));
            assertThat(driver()).isInstanceOf(DriverState.Opening.class);
            node.pass(Duration.ofSeconds(1));
            assertThat(driver())
                    .isEqualTo(new DriverState.Silent(FakeDriver.INFO, "counting the GPUs has not returned for 31 s"));
        });
        node.opened("GPU-a");
        assertThat(driver()).isInstanceOf(DriverState.Running.class);
    }

    @Test
    void driverWithoutAListIsSilentAndTriedAgain() {
        node.driver.listed = Reading.absent(Absence.FAILED, 999, "nvmlDeviceGetCount_v2");
        node.sampler.manager.step();
        assertThat(driver())
                .isEqualTo(
                        new DriverState.Silent(FakeDriver.INFO, "nvmlDeviceGetCount_v2: the call failed (code 999)"));
        node.list("GPU-a");
        node.pass(Duration.ofSeconds(10));
        node.sampler.manager.step();
        assertThat(driver()).isInstanceOf(DriverState.Running.class);
    }

    @Test
    void unlistedGpuIsGoneAndReturnsWithItsIdentity() {
        node.opened("GPU-a", "GPU-b");
        node.workers.forEach(GpuWorker::turn);
        node.list("GPU-b");
        node.pass(Duration.ofSeconds(60));
        node.sampler.manager.step();

        // GPU-b moved to index 0 and keeps its readings; GPU-a is listed behind.
        assertThat(node.gpu(0).identity().selector()).isEqualTo("GPU-b");
        assertThat(node.gpu(0).identity().index()).isZero();
        assertThat(node.gpu(1).identity().selector()).isEqualTo("GPU-a");
        assertThat(node.gpu(1).state()).isEqualTo(GpuState.GONE);
        assertThat(node.gpu(1).frame().absence(GpuMetric.TEMPERATURE.ordinal())).isEqualTo(Absence.STALE);
        node.driver.calls.clear();
        node.workers.get(1).turn();
        assertThat(node.driver.calls).contains("FAST 0").doesNotContain("FAST 1");

        node.list("GPU-a", "GPU-b");
        node.pass(Duration.ofSeconds(60));
        node.sampler.manager.step();
        assertThat(node.workers).hasSize(3);
        node.workers.get(2).turn();
        assertThat(node.gpu(0).identity().selector()).isEqualTo("GPU-a");
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
    }

    @Test
    void lostGpuReinitialisesTheLibraryAndReopensSamplers() {
        node.opened("GPU-a", "GPU-b");
        node.driver.broken.put(1, Absence.GPU_LOST);
        node.workers.forEach(GpuWorker::turn);
        node.pass(Duration.ofSeconds(30));
        node.sampler.manager.step();
        assertThat(node.stats().reinitialisations()).isZero();

        node.driver.duringReinitialise = () -> {
            node.driver.broken.clear();
            // No worker enters the driver during this.
            node.driver.calls.clear();
            node.pass(Duration.ofSeconds(3));
            node.workers.forEach(GpuWorker::turn);
            assertThat(node.driver.calls).isEmpty();
        };
        node.pass(Duration.ofSeconds(30));
        node.sampler.manager.step();
        assertThat(node.stats().reinitialisations()).isEqualTo(1);
        node.pass(Duration.ofSeconds(30));
        node.workers.forEach(GpuWorker::turn);
        assertThat(node.gpu(1).state()).isEqualTo(GpuState.ANSWERING);
        assertThat(node.driver.openSamplers).isEqualTo(2);
    }

    @Test
    void reinitialisationBacksOffWhileItDoesNotHelp() {
        node.opened("GPU-a");
        node.driver.broken.put(0, Absence.GPU_LOST);
        node.workers.get(0).turn();
        for (int minute = 0; minute < 600; minute++) {
            node.pass(Duration.ofMinutes(1));
            node.sampler.manager.step();
        }
        assertThat(node.stats().reinitialisations()).isBetween(10L, 20L);
    }

    @Test
    void libraryIsNotReinitialisedWhileACallHangs() {
        node.opened("GPU-a", "GPU-b");
        node.driver.broken.put(1, Absence.GPU_LOST);
        node.workers.get(1).turn();
        node.driver.during.put("FAST 0", () -> {
            for (int minute = 0; minute < 60; minute++) {
                node.pass(Duration.ofMinutes(1));
                node.supervise();
                node.driver.calls.clear();
                node.sampler.manager.step();
                assertThat(node.driver.calls).isEmpty();
            }
        });
        node.workers.get(0).turn();
        assertThat(node.stats().reinitialisations()).isZero();
    }

    @Test
    void libraryThatCannotBeReinitialisedIsReopened() {
        node.opened("GPU-a");
        node.workers.get(0).turn();
        node.driver.listed = Reading.absent(Absence.FAILED, 1, "nvmlDeviceGetCount_v2");
        node.driver.reinitialised = Reading.absent(Absence.FAILED, 18, "nvmlInit_v2");
        node.pass(Duration.ofMinutes(1));
        node.sampler.manager.step();
        node.pass(Duration.ofSeconds(10));
        node.sampler.manager.step();
        assertThat(driver())
                .isEqualTo(new DriverState.Unavailable(
                        Reason.VERSION_MISMATCH, 18, "nvmlInit_v2: the call failed (code 18)"));
        assertThat(node.driver.closed).isTrue();
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.GONE);

        node.list("GPU-a");
        node.pass(Duration.ofSeconds(10));
        node.sampler.manager.step();
        node.workers.get(1).turn();
        assertThat(driver()).isInstanceOf(DriverState.Running.class);
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
    }
}
