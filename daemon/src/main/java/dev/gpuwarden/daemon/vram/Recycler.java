package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The recycles of a node, one after the other on a thread of their own. In dry run it reports what it would do. Thread-safe. */
public final class Recycler implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Recycler.class.getName());

    /** The cap of recycles per hour is far below. */
    private static final int MOST_WAITING = 64;

    private final boolean armed;
    private final List<Actuator> actuators;
    private final Optional<DecisionLog> records;
    private final ExecutorService worker = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            Threads.daemon("gpuwarden-vram-recycle"));
    private final Map<String, Map<String, Long>> outcomesByGpu = new HashMap<>();

    /** @param actuators the first that handles a tenant recycles it */
    public Recycler(boolean armed, List<Actuator> actuators, Optional<DecisionLog> records) {
        this.armed = armed;
        this.records = records;
        this.actuators = List.copyOf(actuators);
    }

    /** Carries out a decision, later and on another thread. Does not block. */
    void recycle(Decision decision, Tenant tenant, String gpuLabel) {
        Optional<Actuator> actuator =
                actuators.stream().filter(some -> some.handles(tenant)).findFirst();
        String what = tenant.name() + " by " + actuator.map(Actuator::name).orElse("nothing");
        if (!armed) {
            actuator.ifPresent(some -> some.rehearse(decision, tenant));
            end(decision, "dry_run", gpuLabel + ": would recycle " + what + " (dry run): " + decision.reason());
        } else if (actuator.isEmpty()) {
            end(decision, "failed", gpuLabel + ": no way to recycle " + tenant.name() + " (" + tenant.id() + ")");
        } else {
            try {
                worker.execute(() -> act(actuator.get(), decision, tenant, gpuLabel));
            } catch (RejectedExecutionException e) {
                end(decision, "failed", gpuLabel + ": too many recycles wait; not recycled: " + tenant.name());
            }
        }
    }

    private void act(Actuator actuator, Decision decision, Tenant tenant, String gpuLabel) {
        Actuator.Outcome outcome;
        try {
            outcome = actuator.recycle(decision, tenant);
        } catch (RuntimeException e) {
            outcome = new Actuator.Outcome(false, "a defect: " + e);
        }
        Actuator.Outcome end = outcome;
        records.ifPresent(log -> log.acted(decision, actuator.name(), end));
        String text = gpuLabel + ": recycle of " + tenant.name() + " by " + actuator.name() + ": " + outcome.text();
        end(decision, outcome.accepted() ? "accepted" : "failed", text);
    }

    private void end(Decision decision, String outcome, String line) {
        synchronized (outcomesByGpu) {
            outcomesByGpu
                    .computeIfAbsent(decision.seen().gpu(), gpu -> new TreeMap<>())
                    .merge(outcome, 1L, Long::sum);
        }
        LOG.log(Level.WARNING, line);
    }

    /** Returns the number of recycles of a GPU by outcome: {@code dry_run}, {@code accepted}, {@code failed}. */
    Map<String, Long> outcomes(String gpu) {
        synchronized (outcomesByGpu) {
            return Map.copyOf(outcomesByGpu.getOrDefault(gpu, Map.of()));
        }
    }

    @Override
    public void close() {
        worker.shutdown();
    }
}
