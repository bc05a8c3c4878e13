package dev.gpuwarden.daemon.vram.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.NotRecycled;
import dev.gpuwarden.watchdog.decision.Standing;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RecyclerTest {

    private static final Supplier<Standing> NEEDED = () -> Standing.NEEDED;

    private final BlockingQueue<String> acts = new LinkedBlockingQueue<>();
    /** The reasons that the watchdogs get. */
    private final BlockingQueue<NotRecycled> takenBack = new LinkedBlockingQueue<>();

    private final CountDownLatch slow = new CountDownLatch(1);
    private Optional<Recycler> recycler = Optional.empty();

    /** Restarts tenants; that of slow.service takes until the test lets it end. */
    private final class Restarts implements Actuator {
        @Override
        public String name() {
            return "restart";
        }

        @Override
        public boolean handles(Tenant tenant) {
            return !tenant.name().equals("unknown");
        }

        @Override
        public Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
            acts.add(tenant.name());
            if (tenant.name().equals("stubborn")) {
                return new Outcome(false, "the engine has not answered");
            }
            if (tenant.name().equals("spared")) {
                return Outcome.refused("the pod belongs to a DaemonSet");
            }
            if (tenant.name().equals("mild")) {
                return Outcome.enough("SIGTERM, no SIGKILL");
            }
            if (tenant.name().equals("slow")) {
                try {
                    slow.await();
                } catch (InterruptedException e) {
                    return new Outcome(false, "interrupted");
                }
            }
            return new Outcome(true, "restarted");
        }
    }

    @AfterEach
    void close() {
        slow.countDown();
        recycler.ifPresent(Recycler::close);
    }

    private Recycler start() {
        Recycler started = new Recycler(true, List.of(new Restarts()), Optional.empty(), Duration.ofMillis(200));
        recycler = Optional.of(started);
        return started;
    }

    private void recycle(Recycler recycler, String gpu, String name, Supplier<Standing> newest) {
        Tenant tenant = VramFixture.tenant(name, 1800, 5000);
        GpuObservation seen =
                new GpuObservation(gpu, 1, 1, Reading.absent(Absence.PENDING), Reading.of(List.of(tenant)), 1);
        Decision decision = new Decision(seen, Verdict.RECYCLE, Optional.empty(), List.of(), "", List.of());
        recycler.recycle(decision, tenant, gpu, new Recycler.Decider() {
            @Override
            public Standing standing() {
                return newest.get();
            }

            @Override
            public void notRecycled(NotRecycled why) {
                takenBack.add(why);
            }
        });
    }

    private static void await(Recycler recycler, String gpu, Map<String, Long> outcomes) throws InterruptedException {
        while (!recycler.outcomes(gpu).equals(outcomes)) {
            Thread.sleep(10);
        }
    }

    @Test
    void aReasonThatIsOverWithholdsTheAct() throws Exception {
        Recycler started = start();
        recycle(started, "GPU-1", "a", () -> Standing.over("within its budget"));
        await(started, "GPU-1", Map.of("no_longer_needed", 1L));
        assertThat(acts).isEmpty();
    }

    @Test
    void aNewestStateThatIsNoBasisWithholdsTheAct() throws Exception {
        Recycler started = start();
        recycle(started, "GPU-1", "a", () -> Standing.unknown("no reading"));
        await(started, "GPU-1", Map.of("no_longer_needed", 1L));
        assertThat(acts).isEmpty();
    }

    @Test
    void theNextStateDecidesWhereTheNewestIsNoBasis() throws Exception {
        Recycler started = start();
        AtomicInteger looks = new AtomicInteger();
        recycle(
                started,
                "GPU-1",
                "a",
                () -> looks.incrementAndGet() < 3 ? Standing.unknown("an old list") : Standing.NEEDED);
        await(started, "GPU-1", Map.of("accepted", 1L));
    }

    @Test
    void aSlowRecycleDelaysNoneOfAnotherGpu() throws Exception {
        Recycler started = start();
        recycle(started, "GPU-1", "slow", NEEDED);
        assertThat(acts.poll(20, TimeUnit.SECONDS)).isEqualTo("slow");
        recycle(started, "GPU-2", "b", NEEDED);
        await(started, "GPU-2", Map.of("accepted", 1L));
        assertThat(started.outcomes("GPU-1")).isEmpty();
    }

    @Test
    void aTenantOfTwoGpusIsRecycledOnce() throws Exception {
        Recycler started = start();
        recycle(started, "GPU-1", "slow", NEEDED);
        assertThat(acts.poll(20, TimeUnit.SECONDS)).isEqualTo("slow");
        recycle(started, "GPU-2", "slow", NEEDED);
        await(started, "GPU-2", Map.of("no_longer_needed", 1L));
        slow.countDown();
        await(started, "GPU-1", Map.of("accepted", 1L));
        assertThat(acts).isEmpty();
    }

    /** The outcome that is counted, and what the watchdog is notified of; empty where the decision counts as a recycle. */
    private void reports(String name, Standing standing, String outcome, NotRecycled... expected) throws Exception {
        Recycler started = start();
        recycle(started, "GPU-1", name, () -> standing);
        await(started, "GPU-1", Map.of(outcome, 1L));
        assertThat(takenBack).containsExactly(expected);
    }

    @Test
    void anAttemptThatFailsIsReportedToTheWatchdog() throws Exception {
        reports("stubborn", Standing.NEEDED, "failed", NotRecycled.FAILED);
    }

    @Test
    void aRefusalBeforeAnAttemptIsNoFailedAttempt() throws Exception {
        reports("spared", Standing.NEEDED, "failed", NotRecycled.REFUSED);
    }

    @Test
    void aTenantThatNoActuatorHandlesIsNoFailedAttempt() throws Exception {
        Recycler started = start();
        recycle(started, "GPU-1", "unknown", NEEDED);
        assertThat(takenBack.poll(20, TimeUnit.SECONDS)).isEqualTo(NotRecycled.REFUSED);
        assertThat(started.outcomes("GPU-1")).isEqualTo(Map.of("failed", 1L));
    }

    @Test
    void anActThatIsWithheldIsNoFailure() throws Exception {
        reports("a", Standing.over("within its budget"), "no_longer_needed", NotRecycled.WITHHELD);
    }

    @Test
    void anActThatEndsBecauseItsBeginWasEnoughIsARecycle() throws Exception {
        reports("mild", Standing.NEEDED, "no_longer_needed");
    }
}
