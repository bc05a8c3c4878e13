package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.DecisionLog;
import dev.gpuwarden.daemon.vram.watch.Observations.Observed;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.NotRecycled;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Standing;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The thread of the watchdog: it observes each GPU, decides, and passes recycles on. It never waits for a driver. */
public final class VramMonitor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(VramMonitor.class.getName());

    /** GPUs are read at the same time: after a change of one, the others get this long to publish theirs. */
    private static final long SETTLE_NANOS = Duration.ofMillis(10).toNanos();

    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

    private final NodeSampler sampler;
    private final Observations observations;
    private final WatchdogRules rules;
    private final RecycleHistory history;
    private final Remembered remembered;
    private final Optional<DecisionLog> records;
    private final Recycler recycler;
    private final LocalCalls calls;
    private final Clock clock;
    private final Map<String, WatchedGpu> gpus = new LinkedHashMap<>();
    private final LoopThread thread = new LoopThread("gpuwarden-vram", this::run);

    /**
     * @param remembered that of an earlier daemon
     * @param records empty where events are in memory alone
     * @param calls get each observation before a decision, and each decision
     */
    public VramMonitor(
            NodeSampler sampler,
            Observations observations,
            WatchdogRules rules,
            Remembered remembered,
            Optional<DecisionLog> records,
            Recycler recycler,
            LocalCalls calls,
            Clock clock) {
        this.sampler = sampler;
        this.observations = observations;
        this.rules = rules;
        this.remembered = remembered;
        this.history = new RecycleHistory(rules.recycle(), remembered.history());
        this.records = records;
        this.recycler = recycler;
        this.calls = calls;
        this.clock = clock;
    }

    public void start() {
        sampler.memoryWatch().whenChanged(thread::wake);
        calls.reservations().whenOpened(thread::wake);
        thread.start();
    }

    /** Returns the state of each GPU that was observed. Waits for no more than one turn. */
    public synchronized List<VramStatus> statuses() {
        return gpus.values().stream()
                .map(gpu -> gpu.status(recycler.outcomes(gpu.name())))
                .toList();
    }

    /** Returns the observation that each GPU's last decision is made of. Waits for no more than one turn. */
    public List<Observed> observed() {
        return statuses().stream()
                .map(status -> new Observed(status.gpu(), status.decision().seen()))
                .toList();
    }

    /** Returns its parts for processes of this node. */
    public LocalCalls calls() {
        return calls;
    }

    /** Takes a turn and waits for the next one, after a change of memory or a request to reserve some until that settles. */
    private long run() throws InterruptedException {
        long pause = turn();
        long began = System.nanoTime();
        thread.await(pause);
        long waited = System.nanoTime() - began;
        thread.pause(Math.min(pause - waited, Math.max(WatchedGpu.LOW_NANOS - waited, SETTLE_NANOS)));
        return 0;
    }

    /** Decides about each GPU with a new reading. Returns the longest pause until the next turn. */
    private synchronized long turn() {
        List<Observed> seen = observations.read();
        long pause = seen.isEmpty() ? WatchedGpu.WAITING_NANOS : WatchedGpu.CALM_NANOS;
        calls.reservations()
                .tick(seen.stream().map(one -> one.observation().gpu()).toList());
        for (Observed one : seen) {
            String name = one.observation().gpu();
            WatchedGpu gpu = gpus.get(name);
            boolean reserved = calls.reservations().isOpen(name);
            if (gpu == null || reserved || gpu.isNew(one.observation(), System.nanoTime())) {
                gpu = gpu == null ? new WatchedGpu(name, rules, history, remembered.of(name)) : gpu;
                gpus.put(name, gpu);
                decide(gpu, one);
            }
            pause = Math.min(pause, reserved ? Math.min(WatchedGpu.WAITING_NANOS, gpu.pauseNanos()) : gpu.pauseNanos());
        }
        if (gpus.size() > seen.size()) {
            gpus.keySet()
                    .retainAll(seen.stream().map(one -> one.observation().gpu()).toList());
        }
        return pause;
    }

    private void decide(WatchedGpu gpu, Observed seen) {
        WatchdogState before = gpu.state();
        GpuObservation observation = calls.reservations().observe(seen.gpu(), seen.observation());
        Decision decision = gpu.decide(new Observed(seen.gpu(), observation), clock.instant());
        records.ifPresent(log -> log.decided(decision, before));
        boolean wantsTenants = decision.wantsTenants() || calls.reservations().isWanted(gpu.name());
        sampler.memoryWatch().set(gpu.name(), gpu.hastenBelowBytes(), wantsTenants);
        String label = seen.gpu().label();
        gpu.news(decision).forEach(line -> LOG.log(level(decision.verdict()), label + ": " + line));
        calls.notices().decided(seen.gpu(), decision);
        decision.recycled()
                .ifPresent(tenant -> recycler.recycle(decision, tenant, label, new Recycler.Decider() {
                    @Override
                    public Standing standing() {
                        return VramMonitor.this.standing(gpu.name(), tenant);
                    }

                    @Override
                    public void notRecycled(NotRecycled why) {
                        VramMonitor.this.notRecycled(gpu, tenant, why);
                    }
                }));
    }

    /** Takes a decision to recycle this tenant back. Waits for no more than one turn. */
    private synchronized void notRecycled(WatchedGpu gpu, Tenant tenant, NotRecycled why) {
        gpu.notRecycled(tenant, why, System.nanoTime());
    }

    /** Returns whether a decision to recycle this tenant stands by the newest state. Waits for no more than one turn. */
    private synchronized Standing standing(String gpu, Tenant tenant) {
        WatchedGpu watched = gpus.get(gpu);
        boolean stopped = thread.isClosed();
        return stopped || watched == null
                ? Standing.unknown(stopped ? "the watchdog stops" : "the GPU is not watched any more")
                : watched.standing(tenant, System.nanoTime());
    }

    private static Level level(Verdict verdict) {
        return switch (verdict) {
            case CALM, RECOVERING, STALE_TENANTS, RELEASING -> Level.INFO;
            case BLIND, NOT_RELEASED, DEFICIT_GRACE, NOBODY_OVER, UNATTRIBUTED, FUTILE, CAPPED, RECYCLE ->
                Level.WARNING;
        };
    }

    /** Stops within a second. A recycle that was begun goes on. */
    @Override
    public void close() {
        thread.close(LONGEST_CLOSE);
        recycler.close();
        records.ifPresent(DecisionLog::close);
    }
}
