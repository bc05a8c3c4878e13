package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.Condition;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.api.kube.FaultText;
import dev.gpuwarden.api.kube.NodeConditions;
import dev.gpuwarden.api.kube.NodeView;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeLabels;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A reconciler of this node's conditions and labels: it writes them at start, after a change, when the API server
 * returns, and at intervals in case another writer changed them. It holds only the server's last answer, so that a
 * long outage of the server needs no memory. It sleeps while nothing changes.
 */
public final class NodeReconciler implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodeReconciler.class.getName());

    /** The wait for further changes, since one fault is several lines of the log. */
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    /** The interval between two reads of the Node: 10,000 nodes read 17 times a second. */
    static final Duration READ_INTERVAL = Duration.ofMinutes(10);
    /** The rate limit: a flapping fault changes the Node at most twice a minute. */
    private static final int BURST = 10;

    private static final Duration EACH = Duration.ofSeconds(30);
    private static final Duration REPEATED_EACH = Duration.ofSeconds(30);
    /** The factor of the pause after errors that an operator must correct. */
    private static final int SLOW = 5;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(2), 0.5);

    private static final Set<ApiRequest.Kind> SETTLED =
            EnumSet.of(ApiRequest.Kind.read, ApiRequest.Kind.conditions, ApiRequest.Kind.labels);
    private static final Set<String> OWN = Set.of(NodeLabels.GPU_HEALTH);

    private final KubeClient client;
    private final KubeCounters counters;
    private final String node;
    private final Set<Part> parts;
    private final boolean dryRun;
    private final EventRepeats repeats;
    private final NodeStatusSource facts;
    private final Clock clock;
    private final Duration readInterval;
    private final RateLimit limiter = new RateLimit(BURST, EACH.toNanos(), 1, System::nanoTime);
    private final RateLimit repeatLimiter = new RateLimit(1, REPEATED_EACH.toNanos(), 1, System::nanoTime);
    private final LoopThread thread = new LoopThread("gpuwarden-kube-node", Threads.SMALL_STACK_BYTES, this::run);

    private @Nullable NodeView view;
    private long readAgainNanos;
    private int failures;
    private String logged = "";

    /**
     * Creates a reconciler; {@link #start} starts it.
     *
     * @param readInterval the interval between two reads of the Node if nothing changes
     */
    NodeReconciler(KubernetesNode target, NodeStatusSource facts, Duration readInterval) {
        this.readInterval = readInterval;
        this.client = target.client;
        this.counters = target.counters;
        this.node = target.name;
        this.parts = target.parts;
        this.dryRun = target.dryRun;
        this.repeats = target.repeats;
        this.facts = facts;
        this.clock = target.clock;
    }

    void start() {
        thread.start();
    }

    /** Schedules a turn, since something may have changed. Never blocks. */
    public void wake() {
        thread.wake();
    }

    private long run() throws InterruptedException {
        thread.await(turn());
        thread.pause(SETTLE_NANOS);
        return 0;
    }

    /** Returns the time until the next turn without a wakeup. */
    private long turn() throws InterruptedException {
        try {
            long wait = writeNode();
            counters.settled(SETTLED);
            wait = Math.min(wait, updateCounts());
            if (failures > 0) {
                LOG.log(Level.INFO, "Node " + node + " is up to date in Kubernetes again");
                logged = "";
                failures = 0;
            }
            return wait;
        } catch (KubeException | RuntimeException e) {
            failed(e);
            return 0;
        }
    }

    private long writeNode() throws KubeException, InterruptedException {
        if (!parts.contains(Part.conditions) && !parts.contains(Part.labels)) {
            return readInterval.toNanos();
        }
        NodeView there = there();
        List<Fault> faults = facts.faults();
        if (parts.contains(Part.conditions)) {
            Optional<List<Condition>> conditions =
                    NodeConditions.change(faults, facts.complete(), there, clock.instant());
            if (conditions.isPresent()) {
                long wait = limiter.waitNanos(node);
                if (wait > 0) {
                    return wait;
                }
                there = there.withConditionsOf(write(
                        ApiRequest.conditions(node, NodeConditions.body(node, conditions.get())),
                        text(conditions.get(), there)));
                view = there;
            }
        }
        if (parts.contains(Part.labels)) {
            Map<String, @Nullable String> labels = labelChanges(facts.results(), facts.complete(), faults, there);
            if (!labels.isEmpty()) {
                long wait = limiter.waitNanos(node);
                if (wait > 0) {
                    return wait;
                }
                view = there.withLabelsOf(write(ApiRequest.labels(node, labelPatch(labels)), "labels " + labels));
            }
        }
        return Math.max(0, readAgainNanos - System.nanoTime());
    }

    private NodeView there() throws KubeException, InterruptedException {
        NodeView there = view;
        // A dry run stores nothing, so reading again would show the same differences.
        if (there == null || !dryRun && readAgainNanos - System.nanoTime() <= 0) {
            there = view(client.ask(ApiRequest.read(node)));
            view = there;
            double jitter = 0.9 + ThreadLocalRandom.current().nextDouble() / 5;
            readAgainNanos = System.nanoTime() + (long) (readInterval.toNanos() * jitter);
        }
        return there;
    }

    private static NodeView view(Optional<Map<?, ?>> node) {
        return NodeView.of(node.orElse(Map.of()), ApiRequest.MANAGER);
    }

    private NodeView write(ApiRequest request, String what) throws KubeException, InterruptedException {
        NodeView after = view(client.ask(request));
        var unused = limiter.take(node);
        if (!what.isEmpty()) {
            LOG.log(Level.INFO, (dryRun ? "dry run: would write to Node " : "wrote to Node ") + node + ": " + what);
        }
        return after;
    }

    private static String text(List<Condition> conditions, NodeView there) {
        return conditions.stream()
                .filter(condition -> {
                    Condition before = there.conditions().get(condition.type());
                    return before == null || !before.says(condition);
                })
                .map(condition -> "condition " + condition.type() + "=" + condition.status() + " ("
                        + FaultText.line(condition.message(), 200) + ")")
                .collect(Collectors.joining(", "));
    }

    /**
     * Updates the counts of Events. An Event that stands for several events, or that an earlier daemon wrote, is not
     * updated.
     */
    private long updateCounts() throws KubeException, InterruptedException {
        if (!parts.contains(Part.events) || !repeats.anyRepeated()) {
            return Long.MAX_VALUE;
        }
        long wait = repeatLimiter.waitNanos(node);
        if (wait > 0) {
            return wait;
        }
        var unusedPermit = repeatLimiter.take(node);
        for (StoredEvent stored : repeats.repeated()) {
            EventObject event = EventObject.of(List.of(stored), node).get(0);
            if (repeats.countsOne(event)) {
                var unused = client.ask(ApiRequest.event(event.name(), event.told()));
            }
        }
        return Long.MAX_VALUE;
    }

    private void failed(Exception cause) throws InterruptedException {
        // The outcome of the write is unknown: read the Node again.
        view = null;
        boolean slow = cause instanceof KubeException answered && answered.slow();
        String kind = cause instanceof KubeException answered ? "answer " + answered.status() : cause.toString();
        if (!logged.equals(kind)) {
            logged = kind;
            LOG.log(
                    Level.WARNING,
                    "Node " + node + " cannot be updated in Kubernetes, with retries: "
                            + (cause instanceof KubeException ? cause.getMessage() : cause.toString()));
        }
        failures++;
        Duration wait = RETRY.pause(failures).multipliedBy(slow ? SLOW : 1);
        // Not on the wakeup: a change is no reason to try sooner.
        thread.pause(wait.toNanos());
    }

    @Override
    public void close() {
        // The next daemon starts from the Node's state.
        thread.interrupt(Duration.ofSeconds(2));
    }

    /** The node's current faults and check results. Thread-safe; never blocks. */
    public interface NodeStatusSource {

        List<Fault> faults();

        /** Returns the last result of each check that has run. */
        List<CheckResult> results();

        /** Returns true if every check has run since the daemon started. */
        boolean complete();
    }

    /**
     * Returns the new value of each label that must change, null for one to be removed; empty if no label changes.
     *
     * @param complete true if every check has run since the start; until then a fault can add a label, but no label
     *     is removed or improved, so that a restart changes nothing
     */
    static Map<String, @Nullable String> labelChanges(
            List<CheckResult> results, boolean complete, List<Fault> faults, NodeView there) {
        Map<String, @Nullable String> changes = new LinkedHashMap<>();
        if (!complete && faults.stream().noneMatch(Fault::decides)) {
            return changes;
        }
        Map<String, String> wanted = NodeLabels.of(results, faults);
        for (String label : OWN) {
            Optional<String> now = Optional.ofNullable(wanted.get(label));
            if (!now.equals(Optional.ofNullable(there.labels().get(label)))) {
                changes.put(label, now.orElse(null));
            }
        }
        return changes;
    }

    /** Returns the body of a merge patch. */
    static Map<String, Object> labelPatch(Map<String, @Nullable String> changes) {
        return Map.of("metadata", Map.of("labels", changes));
    }
}
