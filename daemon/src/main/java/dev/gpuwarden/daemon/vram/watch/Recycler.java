package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.action.Actuator.Outcome;
import dev.gpuwarden.daemon.vram.trace.DecisionLog;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.NotRecycled;
import dev.gpuwarden.watchdog.decision.Standing;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The recycles of a node, each on a thread of its own, so that a slow one delays none of another GPU. Immediately before each
 * act it checks the decision by the newest state. In dry run it reports what it would do. Thread-safe.
 */
public final class Recycler implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Recycler.class.getName());

    /** Recycles at the same time. The watchdog decides six in an hour by default, and a GPU has one at a time. */
    private static final int MOST = 16;

    private static final int IDLE_SECONDS = 30;

    /** Time to wait for a newest state that is a basis: a GPU is read four times a second, and at rest judged each five seconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(6);

    private static final long POLL_NANOS = Duration.ofMillis(50).toNanos();

    private final boolean armed;
    private final List<Actuator> actuators;
    private final Optional<DecisionLog> records;
    private final Duration patience;
    private final ExecutorService workers = new ThreadPoolExecutor(
            0,
            MOST,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Threads.daemon("gpuwarden-vram-recycle"));
    private final Map<String, Map<String, Long>> outcomesByGpu = new HashMap<>();
    /** The tenants that are being recycled, by identity: one may hold several GPUs. */
    private final Set<String> underWay = ConcurrentHashMap.newKeySet();

    /** The watchdog that has decided. Thread-safe. */
    interface Decider {

        /** Returns whether the decision stands by the newest state of its GPU. Called often; may wait for a turn of the watchdog. */
        Standing standing();

        /** Takes the decision back, because the tenant was not recycled. */
        void notRecycled(NotRecycled why);
    }

    /** @param actuators the first that handles a tenant recycles it */
    public Recycler(boolean armed, List<Actuator> actuators, Optional<DecisionLog> records) {
        this(armed, actuators, records, PATIENCE);
    }

    Recycler(boolean armed, List<Actuator> actuators, Optional<DecisionLog> records, Duration patience) {
        this.armed = armed;
        this.records = records;
        this.actuators = List.copyOf(actuators);
        this.patience = patience;
    }

    /**
     * Carries out a decision, later and on another thread. Does not block.
     *
     * @param decider asked immediately before the act, and notified if it has no effect; called by that thread or this one
     */
    void recycle(Decision decision, Tenant tenant, String gpuLabel, Decider decider) {
        Optional<Actuator> actuator =
                actuators.stream().filter(some -> some.handles(tenant)).findFirst();
        String what = tenant.name() + " by " + actuator.map(Actuator::name).orElse("nothing");
        if (!armed) {
            actuator.ifPresent(some -> some.rehearse(decision, tenant));
            end(decision, "dry_run", gpuLabel + ": would recycle " + what + " (dry run): " + decision.reason());
        } else if (actuator.isEmpty()) {
            end(decision, "failed", gpuLabel + ": no way to recycle " + tenant.name() + " (" + tenant.id() + ")");
            decider.notRecycled(NotRecycled.REFUSED);
        } else {
            try {
                workers.execute(() -> act(actuator.get(), decision, tenant, gpuLabel, decider));
            } catch (RejectedExecutionException e) {
                end(
                        decision,
                        "failed",
                        gpuLabel + ": too many recycles at the same time; not recycled: " + tenant.name());
                decider.notRecycled(NotRecycled.REFUSED);
            }
        }
    }

    private void act(Actuator actuator, Decision decision, Tenant tenant, String gpuLabel, Decider decider) {
        Actuator.Recheck recheck = () -> objection(decider);
        Outcome outcome;
        if (underWay.add(tenant.id())) {
            try {
                outcome = recheck.objection()
                        .map(Outcome::noLongerNeeded)
                        .orElseGet(() -> actuator.recycle(decision, tenant, recheck));
            } catch (RuntimeException e) {
                outcome = new Outcome(false, "a defect: " + e);
            } finally {
                underWay.remove(tenant.id());
            }
        } else {
            outcome = Outcome.noLongerNeeded("it is being recycled for another GPU");
        }
        Outcome end = outcome;
        end.notRecycled().ifPresent(decider::notRecycled);
        records.ifPresent(log -> log.acted(decision, actuator.name(), end));
        String text = gpuLabel + ": recycle of " + tenant.name() + " by " + actuator.name() + ": "
                + (end.end() == Actuator.End.NO_LONGER_NEEDED ? "no longer needed: " : "") + end.text();
        end(decision, end.end().word(), text);
    }

    /** Reads the newest state until it shows whether the reason holds. Without such a state the act must not be. */
    private Optional<String> objection(Decider decider) {
        long start = System.nanoTime();
        Standing standing = decider.standing();
        while (standing.state() == Standing.State.UNKNOWN && System.nanoTime() - start < patience.toNanos()) {
            LockSupport.parkNanos(this, POLL_NANOS);
            standing = decider.standing();
        }
        return switch (standing.state()) {
            case NEEDED -> Optional.empty();
            case OVER -> Optional.of(standing.text());
            case UNKNOWN -> Optional.of("its reason cannot be seen any more: " + standing.text());
        };
    }

    private void end(Decision decision, String outcome, String line) {
        synchronized (outcomesByGpu) {
            outcomesByGpu
                    .computeIfAbsent(decision.seen().gpu(), gpu -> new TreeMap<>())
                    .merge(outcome, 1L, Long::sum);
        }
        LOG.log(Level.WARNING, line);
    }

    /**
     * Returns the number of recycles of a GPU by outcome: {@code dry_run}, {@code accepted}, {@code failed}, {@code
     * no_longer_needed}.
     */
    Map<String, Long> outcomes(String gpu) {
        synchronized (outcomesByGpu) {
            return Map.copyOf(outcomesByGpu.getOrDefault(gpu, Map.of()));
        }
    }

    @Override
    public void close() {
        workers.shutdown();
    }
}
