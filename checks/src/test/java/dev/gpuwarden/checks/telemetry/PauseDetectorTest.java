package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Time in which the daemon itself did not run, in virtual time. */
class PauseDetectorTest {

    private static final long DEADLINE = Duration.ofSeconds(2).toNanos();

    private final VirtualNode node = new VirtualNode().opened("GPU-a", "GPU-b");

    @Test
    void aPauseDuringACallIsNoHang() {
        node.workers.get(0).turn();
        node.pass(Duration.ofSeconds(1));
        node.driver.during.put("FAST 0", () -> {
            node.pass(Duration.ofMillis(1900));
            node.pause(Duration.ofSeconds(60));
            assertThat(node.gpu(0).state())
                    .as("the first thread to run after the pause is a reader")
                    .isEqualTo(GpuState.ANSWERING);
            assertThat(node.gpu(0).detail()).startsWith("the daemon itself did not run for 59.");
            assertThat(node.gpu(0).frame().absence(GpuMetric.TEMPERATURE.ordinal()))
                    .isEqualTo(Absence.STALE);
            node.supervise();
            assertThat(node.workers).hasSize(2);
            // The thread in the driver gets the processor a moment later than the others.
            node.pass(Duration.ofMillis(1900));
            node.supervise();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.ANSWERING);
        });
        node.workers.get(0).turn();
        assertThat(node.stats().hungTurns()).isZero();
        assertThat(node.stats().replacementThreads()).isZero();
    }

    @Test
    void aDriverThatHangsOverAPauseIsFoundAfterIt() {
        node.workers.get(0).turn();
        node.pass(Duration.ofSeconds(1));
        node.driver.during.put("FAST 0", () -> {
            node.pause(Duration.ofSeconds(60));
            node.pass(Duration.ofMillis(2600));
            node.supervise();
            assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
        });
        node.workers.get(0).turn();
    }

    @Test
    void allGpusThatHangTogetherAreFoundOnADaemonThatRuns() {
        node.workers.get(0).turn();
        node.workers.get(1).turn();
        node.pass(Duration.ofSeconds(1));
        node.driver.during.put("FAST 0", () -> {
            node.driver.during.put("FAST 1", () -> {
                node.pass(Duration.ofMillis(2100));
                assertThat(node.gpu(0).state()).isEqualTo(GpuState.HUNG);
                assertThat(node.gpu(1).state()).isEqualTo(GpuState.HUNG);
            });
            node.workers.get(1).turn();
        });
        node.workers.get(0).turn();
    }

    @Test
    void openingTheDriverIsNotLateBecauseOfAPause() {
        VirtualNode opening = new VirtualNode();
        opening.list("GPU-a");
        opening.driver.during.put("count", () -> {
            opening.pass(Duration.ofSeconds(29));
            opening.pause(Duration.ofMinutes(5));
            assertThat(opening.sampler.snapshot().driver().toString()).doesNotContain("not returned");
            opening.pass(Duration.ofSeconds(31));
            assertThat(opening.sampler.snapshot().driver().toString()).contains("counting the GPUs has not returned");
        });
        opening.sampler.manager.step();
    }

    @Test
    void aLateWakeUpOfAnotherThreadIsAPauseToo() {
        PauseDetector pauses = new PauseDetector(() -> 0, Duration.ofNanos(DEADLINE));
        long now = run(pauses, 0, DEADLINE);
        pauses.woke(now - Duration.ofMillis(900).toNanos(), now);
        now = run(pauses, now, DEADLINE / 2);
        assertThat(pauses.late(0, DEADLINE, now)).isFalse();
        assertThat(pauses.late(0, DEADLINE, run(pauses, now, DEADLINE))).isTrue();
    }

    @Test
    void withoutAnEndOfPausesACallIsLateAfterTenCountedDeadlines() {
        PauseDetector pauses = new PauseDetector(() -> 0, Duration.ofNanos(DEADLINE));
        long now = 0;
        for (int tick = 0; tick <= 40; tick++) {
            assertThat(pauses.late(0, DEADLINE, now)).isFalse();
            now += DEADLINE;
            pauses.tick(now);
        }
        assertThat(pauses.late(0, DEADLINE, now)).isTrue();
    }

    /** The process runs and pauses at random. No call is late before the process ran for the deadline since the last pause. */
    @Test
    void noCallIsLateBeforeTheProcessRanForItsDeadline() {
        long seed = Long.getLong("gpuwarden.pauses.seed", 1);
        Random random = new Random(seed);
        for (int walk = 0; walk < Integer.getInteger("gpuwarden.pauses.walks", 500); walk++) {
            PauseDetector pauses = new PauseDetector(() -> 0, Duration.ofNanos(DEADLINE));
            long now = 0;
            long started = 0;
            long ran = 0;
            for (int step = 0; step < 50; step++) {
                if (random.nextInt(10) == 0) {
                    started = pauses.counted(now);
                    ran = 0;
                }
                if (random.nextInt(4) == 0) {
                    now += DEADLINE / 2 + (long) (random.nextDouble() * 100 * DEADLINE);
                } else {
                    long time = (long) (random.nextDouble() * DEADLINE);
                    now = run(pauses, now, time);
                    ran += time;
                }
                if (pauses.late(started, DEADLINE, now)) {
                    assertThat(ran)
                            .as("seed %s, walk %s, step %s", seed, walk, step)
                            .isGreaterThan(DEADLINE);
                }
                if (random.nextBoolean()) {
                    pauses.tick(now);
                }
            }
            now = run(pauses, now, 2 * DEADLINE);
            assertThat(pauses.late(started, DEADLINE, now)).isTrue();
        }
    }

    private static long run(PauseDetector pauses, long from, long time) {
        long now = from;
        while (now < from + time) {
            now = Math.min(from + time, now + pauses.tick);
            pauses.tick(now);
        }
        return now;
    }
}
