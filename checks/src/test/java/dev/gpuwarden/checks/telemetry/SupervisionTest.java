package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that do not return from the driver, in virtual time: a "hang" is time that passes within a call. */
class SupervisionTest {

    private final VirtualNode node = new VirtualNode().opened("GPU-a", "GPU-b");

    @Test
    void allWorkRunsFirstAndThenAtItsInterval() {
        long next = node.workers.get(0).turn();
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
        assertThat(node.driver.calls).containsExactly("count", "identify 0", "FAST 0", "SLOW 0", "PROCESSES 0");
        assertThat(next - node.now)
                .isPositive()
                .isLessThanOrEqualTo(Duration.ofSeconds(1).toNanos());
    }

    @Test
    void hungCallCostsOneThreadAndAReplacementContinues() {
        GpuWorker first = node.workers.get(0);
        node.driver.during.put("FAST 0", () -> {
            node.pass(Duration.ofMillis(1999));
            node.supervise();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.STARTING);
            node.pass(Duration.ofMillis(2));
            node.supervise();
            node.supervise();
            assertThat(node.workers).hasSize(3);
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
            assertThat(node.gpu(0).detail()).isEqualTo("reading memory and health has not returned for 2 s");
            assertThat(node.stats().hungThreads()).isEqualTo(1);

            node.workers.get(2).turn();
            assertThat(node.gpu(0).frame().present(GpuMetric.TEMPERATURE)).isTrue();
        });
        first.turn();
        assertThat(node.published)
                .as("of the two samples one was dropped, and is not told either")
                .filteredOn(sample -> sample.startsWith("FAST GPU-a"))
                .hasSize(1);
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
        assertThat(node.stats().hungThreads()).isZero();
        assertThat(node.stats().hungTurns()).isEqualTo(1);
        assertThat(node.stats().replacementThreads()).isEqualTo(1);

        // The first one must end and does nothing more.
        node.driver.calls.clear();
        node.pass(Duration.ofMinutes(1));
        first.turn();
        assertThat(node.driver.calls).isEmpty();
    }

    @Test
    void secondHangLeavesReadingsStaleWithoutAThirdThread() {
        node.workers.get(0).turn();
        node.pass(Duration.ofSeconds(1));
        node.driver.during.put("FAST 0", () -> {
            node.pass(Duration.ofSeconds(3));
            node.supervise();
            node.driver.during.put("FAST 0", () -> {
                node.pass(Duration.ofSeconds(3));
                node.supervise();
                assertThat(node.workers).hasSize(3);
                assertThat(node.stats().hungThreads()).isEqualTo(2);
                assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
                assertThat(node.gpu(0).frame().absence(GpuMetric.TEMPERATURE.ordinal()))
                        .isEqualTo(Absence.STALE);
                assertThat(node.gpu(0).ageNanos())
                        .isEqualTo(Reading.of(Duration.ofSeconds(7).toNanos()));
            });
            node.workers.get(2).turn();
        });
        node.workers.get(0).turn();
        assertThat(node.stats().hungTurns()).isEqualTo(2);
    }

    @Test
    void firstThreadThatReturnsContinues() throws InterruptedException {
        HungCall one = new HungCall(0);
        HungCall two = new HungCall(2);

        one.release();
        assertThat(node.stats().hungThreads()).isEqualTo(1);
        node.pass(Duration.ofSeconds(1));
        node.workers.get(0).turn();
        assertThat(node.gpu(0).frame().present(GpuMetric.TEMPERATURE)).isTrue();
        // One call still hangs, and the state shows it.
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);

        two.release();
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
        node.driver.calls.clear();
        node.pass(Duration.ofMinutes(1));
        node.workers.get(2).turn();
        assertThat(node.driver.calls).isEmpty();
        node.workers.get(0).turn();
        assertThat(node.driver.calls).contains("FAST 0");
        assertThat(node.workers).hasSize(3);
    }

    /** A turn of GPU 0 in a thread of its own, which hangs past the deadline until it is released. */
    private final class HungCall {
        private final CountDownLatch released = new CountDownLatch(1);
        private final Thread thread;

        HungCall(int worker) throws InterruptedException {
            CountDownLatch inside = new CountDownLatch(1);
            node.driver.during.put("FAST 0", () -> {
                inside.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread = new Thread(() -> node.workers.get(worker).turn());
            thread.start();
            assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
            node.pass(Duration.ofSeconds(3));
            node.supervise();
        }

        void release() throws InterruptedException {
            released.countDown();
            thread.join(10_000);
            assertThat(thread.isAlive()).isFalse();
        }
    }

    @Test
    void replacementSkipsTheHangingWork() {
        node.driver.during.put("SLOW 0", () -> {
            node.pass(Duration.ofSeconds(3));
            node.supervise();
            node.driver.calls.clear();
            node.workers.get(2).turn();
            assertThat(node.driver.calls).containsExactly("FAST 0", "PROCESSES 0");
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
            assertThat(node.gpu(0).detail()).startsWith("the slower sampling has not returned");
            assertThat(node.gpu(0).frame().present(GpuMetric.TEMPERATURE)).isTrue();
            node.pass(Duration.ofSeconds(1));
        });
        node.workers.get(0).turn();
        node.driver.calls.clear();
        node.pass(Duration.ofSeconds(10));
        node.workers.get(2).turn();
        assertThat(node.driver.calls).contains("SLOW 0");
    }

    @Test
    void hungProcessListCostsOnlyProcesses() {
        node.driver.during.put("PROCESSES 0", () -> {
            node.pass(Duration.ofSeconds(3));
            node.supervise();
            node.workers.get(2).turn();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
            assertThat(node.gpu(0).detail()).isEqualTo("listing its processes has not returned for 3 s");
            assertThat(node.gpu(0).processes()).isEqualTo(Reading.absent(Absence.PENDING));
        });
        node.workers.get(0).turn();
        assertThat(node.stats().hungTurns()).isEqualTo(1);
    }

    @Test
    void gpuHangingBeforeIdentificationDoesNotHideOthers() {
        node.driver.during.put("identify 0", () -> {
            node.workers.get(1).turn();
            assertThat(node.gpu(1).identity().selector()).isEqualTo("GPU-b");
            assertThat(node.gpu(1).state()).isEqualTo(GpuState.ANSWERING);
            // Waking a GPU up may take longer than any later call.
            node.pass(Duration.ofSeconds(30));
            node.supervise();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.STARTING);
            node.pass(Duration.ofSeconds(1));
            node.supervise();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
            assertThat(node.gpu(0).identity().label()).isEqualTo("GPU 0");
            assertThat(node.gpu(0).detail()).isEqualTo("identifying it has not returned for 31 s");
        });
        node.workers.get(0).turn();
        node.workers.get(2).turn();
        assertThat(node.gpu(0).identity().selector()).isEqualTo("GPU-a");
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
    }

    @Test
    void theLogNamesAGpuThatIsLostFromTheStartByItsAddressFromBefore(@TempDir Path sysfs) throws IOException {
        for (String address : List.of("0000:10:00.0", "0000:11:00.0")) {
            Path device =
                    Files.createDirectories(sysfs.resolve("bus/pci/devices").resolve(address));
            Files.writeString(device.resolve("vendor"), "0x10de\n");
            Files.writeString(device.resolve("class"), "0x030200\n");
        }
        GpuIdentity first = FakeDriver.gpu(0, "GPU-a");
        VirtualNode restarted = new VirtualNode(sysfs);
        restarted.driver.listed =
                Reading.of(List.of(first, GpuIdentity.unknown(1, new Reading.Absent<>(Absence.GPU_LOST, 15, ""))));
        restarted.driver.broken.put(1, Absence.GPU_LOST);
        restarted.sampler.manager.step();
        restarted.workers.get(1).turn();
        assertThat(restarted.sampler.stateChanges(restarted.now))
                .as("neither its names nor the other's are known")
                .isEmpty();
        KnownGpus known = new KnownGpus(List.of(
                new KnownGpus.Known(0, new PciAddress(0, 0x10, 0, 0), "GPU-a", Optional.empty(), Optional.empty()),
                new KnownGpus.Known(1, new PciAddress(0, 0x11, 0, 0), "GPU-b", Optional.empty(), Optional.empty())));
        restarted.sampler.useIdentities(new GpuIdentityStore(known, news -> {}));
        assertThat(restarted.sampler.stateChanges(restarted.now))
                .contains("GPU 1 (0000:11:00.0) is lost: the driver returns 15, GPU is lost");
    }

    @Test
    void hungGpuCostsOnlyItsOwnReadings() {
        node.workers.get(1).turn();
        node.driver.during.put("FAST 0", () -> {
            node.pass(Duration.ofSeconds(30));
            node.supervise();
            node.workers.get(1).turn();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
            assertThat(node.gpu(1).state()).isEqualTo(GpuState.ANSWERING);
            assertThat(node.gpu(1).frame().present(GpuMetric.TEMPERATURE)).isTrue();
        });
        node.workers.get(0).turn();
    }

    @Test
    void readingsOfALateWorkerAreStaleByCadence() {
        node.workers.get(0).turn();
        node.pass(Duration.ofSeconds(4));
        assertThat(node.gpu(0).frame().present(GpuMetric.TEMPERATURE)).isTrue();
        node.pass(Duration.ofMillis(1));
        assertThat(node.gpu(0).frame().absence(GpuMetric.TEMPERATURE.ordinal())).isEqualTo(Absence.STALE);
        assertThat(node.gpu(0).frame().present(GpuMetric.ECC_MODE)).isTrue();
        assertThat(node.gpu(0).processes()).isInstanceOf(Reading.Present.class);
        node.pass(Duration.ofSeconds(60));
        assertThat(node.gpu(0).frame().absence(GpuMetric.ECC_MODE.ordinal())).isEqualTo(Absence.STALE);
        assertThat(node.gpu(0).processes()).isEqualTo(Reading.absent(Absence.STALE, 0, "listed 64 s ago"));
    }

    @Test
    void lostGpuIsPolledAndReturnsWithinATick() {
        node.driver.broken.put(0, Absence.GPU_LOST);
        GpuWorker worker = node.workers.get(0);
        for (int second = 0; second < 300; second++) {
            worker.turn();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.LOST);
            node.pass(Duration.ofSeconds(1));
        }
        assertThat(node.stats().overruns(Work.FAST)).isZero();

        node.driver.broken.clear();
        worker.turn();
        assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
    }

    @Test
    void missedTurnsAreCountedAndNotRepeated() {
        GpuWorker worker = node.workers.get(0);
        worker.turn();
        node.pass(Duration.ofSeconds(1));
        worker.turn();
        node.driver.calls.clear();
        node.pass(Duration.ofSeconds(5));
        worker.turn();
        assertThat(node.driver.calls).containsExactly("FAST 0");
        assertThat(node.stats().overruns(Work.FAST)).isEqualTo(4);
    }

    @Test
    void implausibleValuesAreRefusedAndCounted() {
        node.driver.value = 808_334_905;
        node.workers.get(0).turn();
        GpuFrame frame = node.gpu(0).frame();
        assertThat(frame.absence(GpuMetric.UTILIZATION_GPU.ordinal())).isEqualTo(Absence.IMPLAUSIBLE);
        assertThat(frame.present(GpuMetric.MEMORY_USED)).isTrue();
        assertThat(node.gpu(0).refusedValues()).isPositive();
    }
}
