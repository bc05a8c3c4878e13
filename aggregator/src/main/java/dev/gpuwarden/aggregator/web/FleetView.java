package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.BreakerStatus;
import dev.gpuwarden.aggregator.fleet.BreakerStatus.BreakerView;
import dev.gpuwarden.aggregator.fleet.ClusterContext;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.Cause;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.fleet.NodeAssessor;
import dev.gpuwarden.aggregator.fleet.NodeJson;
import dev.gpuwarden.aggregator.fleet.NodePipelines;
import dev.gpuwarden.aggregator.fleet.Seen;
import dev.gpuwarden.aggregator.quarantine.QuarantineController;
import dev.gpuwarden.aggregator.remediation.MaintenanceView;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import java.lang.ref.SoftReference;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The view of the fleet for a page that polls: the changes since its last request. Nodes are assessed only on request. The
 * results are kept while there is memory to spare. Thread-safe.
 */
public final class FleetView {

    static final String SCHEMA = "gpuwarden.fleet-page/v1";

    /** The interval at which all nodes are assessed again: a report becomes old without any change. */
    private static final Duration AGAIN = Duration.ofMinutes(1);

    private static final Duration LEASE = Duration.ofSeconds(5);

    private final ReplicaState view;
    private final Supplier<List<Map<String, Object>>> decisions;
    private final Clock clock;
    private final BreakerPolicy breaker;
    private final FleetReader reader;

    private final Object bell = new Object();
    private final Set<String> changed = new HashSet<>();

    private SoftReference<Map<String, Row>> kept = new SoftReference<>(new TreeMap<>());
    /** The state that concerns all nodes. */
    private List<Object> known = List.of();

    private Map<String, PoolCounts.Standing> standing = Map.of();
    private List<Map<String, Object>> decided = List.of();
    private long decidedAt;
    private volatile long revision;
    /** A request from an older revision gets the whole fleet. */
    private long begun = 1;

    private Instant wholeAt = Instant.EPOCH;
    private Instant leaseAt = Instant.EPOCH;
    private Seen<Leader> leader = Seen.unknown("not read yet");

    /** @param waits true if the node waits for the circuit breaker; changes of other nodes can end the wait */
    private record Row(long revision, FleetState state, boolean waits, Map<String, Object> tree) {}

    /**
     * @param revision the revision for the next request
     * @param tree the changes; empty if there are none
     */
    public record News(long revision, Optional<Map<String, Object>> tree) {}

    /** @param decisions the decisions of this replica, youngest first */
    public FleetView(ReplicaState view, KubeClient api, Supplier<List<Map<String, Object>>> decisions, Clock clock) {
        this.view = view;
        this.decisions = decisions;
        this.clock = clock;
        this.breaker = new BreakerPolicy(view.quarantine().settings().pools());
        this.reader = new FleetReader(
                api,
                view.quarantine().settings().namespace(),
                Optional.of(view.quarantine().settings().pools()));
        view.cache().listen(new NodeCache.Listener() {
            @Override
            public void node(String name, Optional<CachedNode> node, boolean ours) {
                changed(name);
            }

            @Override
            public void health(String name, Optional<Map<String, Object>> health) {
                changed(name);
            }
        });
        view.maintenance().listen(this::changed);
    }

    private void changed(String node) {
        synchronized (bell) {
            changed.add(node);
            bell.notifyAll();
        }
    }

    /** Waits until there may be a newer revision than {@code seen}, for at most {@code most}. */
    public void await(long seen, Duration most) throws InterruptedException {
        long end = System.nanoTime() + most.toNanos();
        synchronized (bell) {
            for (long left = most.toNanos();
                    changed.isEmpty() && revision == seen && left > 0;
                    left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(bell, left);
            }
        }
    }

    /**
     * Returns the changes since a revision; with 0, the whole fleet. Requests the leader from the API server at most every 5 s,
     * and blocks for the answer.
     */
    public synchronized News since(long seen) throws InterruptedException {
        Instant now = clock.instant();
        if (leaseAt.plus(LEASE).isBefore(now)) {
            leaseAt = now;
            leader = reader.leader();
        }
        ClusterContext around = around();
        Map<String, Row> rows = refresh(around, now);
        if (seen == revision && seen >= begun) {
            return new News(revision, Optional.empty());
        }
        boolean all = seen < begun || seen > revision;
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("revision", revision);
        tree.put("all", all);
        tree.put("at", now.toString());
        tree.put("states", states(rows));
        tree.put("breaker", BreakerView.tree(around));
        tree.put("modes", around.breaker().modes());
        tree.put("notes", around.notes(now));
        tree.put("replica", view.quarantine().settings().identity());
        tree.put("leader", leader.value().filter(lease -> lease.leads(now)).map(Leader::holder));
        if (all || seen < decidedAt) {
            tree.put("decisions", decided);
        }
        tree.put(
                "nodes",
                rows.values().stream()
                        .filter(row -> all || row.revision() > seen)
                        .map(Row::tree)
                        .toList());
        return new News(revision, Optional.of(tree));
    }

    private static Map<String, Object> states(Map<String, Row> rows) {
        Map<FleetState, Long> counts = new EnumMap<>(FleetState.class);
        rows.values().forEach(row -> counts.merge(row.state(), 1L, Long::sum));
        Map<String, Object> states = new LinkedHashMap<>();
        for (FleetState state : FleetState.values()) {
            states.put(state.label(), counts.getOrDefault(state, 0L));
        }
        return states;
    }

    private ClusterContext around() {
        BreakerStatus status = new BreakerStatus(
                Seen.of(view.quarantine().breaker().state()),
                Seen.of(breaker),
                Seen.of(view.quarantine().settings().mode()),
                Seen.of(view.quarantine().modes()));
        return new ClusterContext(
                Seen.of(view.quarantine().rules().book()),
                status,
                Seen.of(view.quarantine().pools().copy()),
                leader);
    }

    private Map<String, Row> refresh(ClusterContext around, Instant now) {
        Set<String> dirty;
        synchronized (bell) {
            dirty = new HashSet<>(changed);
            changed.clear();
        }
        // The state that concerns all nodes.
        List<Object> knows = List.of(
                System.identityHashCode(view.quarantine().rules().book()),
                view.quarantine().breaker().state(),
                leader.value().map(lease -> lease.holder() + " " + lease.leads(now)));
        Map<String, PoolCounts.Standing> stands = view.quarantine().breaker().standing();
        List<Map<String, Object>> decides = decisions.get();
        long next = revision + 1;
        boolean roomier = !stands.equals(standing);
        boolean news = roomier;
        standing = stands;
        if (!decides.equals(decided)) {
            decided = decides;
            decidedAt = next;
            news = true;
        }
        Map<String, Row> rows = kept.get();
        boolean lost = rows == null;
        if (rows == null) {
            rows = new TreeMap<>();
            kept = new SoftReference<>(rows);
            begun = next;
        }
        boolean others = !knows.equals(known);
        news |= others;
        if (roomier) {
            rows.forEach((name, row) -> {
                if (row.waits()) {
                    dirty.add(name);
                }
            });
        }
        if (others || lost || wholeAt.plus(AGAIN).isBefore(now)) {
            known = knows;
            wholeAt = now;
            dirty.addAll(rows.keySet());
            dirty.addAll(view.cache().names());
        }
        for (String node : dirty) {
            news |= assess(node, rows, around, now, next);
        }
        if (news) {
            synchronized (bell) {
                revision = next;
                bell.notifyAll();
            }
        }
        return rows;
    }

    private boolean assess(String name, Map<String, Row> rows, ClusterContext around, Instant now, long next) {
        Optional<CachedNode> node = view.cache().node(name);
        if (node.isEmpty()) {
            // Only a page that gets the whole fleet drops the node.
            boolean was = rows.remove(name) != null;
            begun = was ? next : begun;
            return was;
        }
        NodeAssessment assessment =
                NodeAssessor.of(NodeFacts.of(node.get().tree()), view.cache().health(name), around, now);
        Map<String, Object> tree = NodeJson.tree(assessment);
        // The time changes with each report, and carries no information while it is recent.
        tree.remove("reported");
        tree.put("pipeline", pipeline(node.get(), assessment).map(NodePipeline::tree));
        tree.put(
                "pools",
                view.quarantine().settings().pools().stream()
                        .filter(pool -> pool.selector().matches(node.get().labels()))
                        .map(pool -> pool.name())
                        .toList());
        Row before = rows.get(name);
        if (before != null && before.tree().equals(tree)) {
            return false;
        }
        rows.put(name, new Row(next, assessment.state(), assessment.cause().equals(Optional.of(Cause.BREAKER)), tree));
        return true;
    }

    private Optional<NodePipeline> pipeline(CachedNode node, NodeAssessment assessment) {
        return NodePipelines.of(node, assessment, view.maintenance().of(node));
    }

    /** The last 200 decisions of this replica. The audit log contains all. Thread-safe. */
    public static final class Decisions {

        private static final int MOST = 200;

        private final Deque<Map<String, Object>> last = new ArrayDeque<>();

        /** @param audit the record in the format of the audit log */
        public void add(Map<String, Object> audit) {
            Map<String, Object> shown = new LinkedHashMap<>(audit);
            // Only programs use the patch.
            shown.remove("patch");
            synchronized (last) {
                last.addFirst(shown);
                if (last.size() > MOST) {
                    last.removeLast();
                }
            }
        }

        /** Returns the decisions, youngest first. */
        public List<Map<String, Object>> last() {
            synchronized (last) {
                return List.copyOf(last);
            }
        }
    }

    /** The state of a replica, for readers that change nothing. */
    public record ReplicaState(NodeCache cache, QuarantineController quarantine, MaintenanceView maintenance) {}
}
