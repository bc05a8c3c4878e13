package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.vram.BudgetedNodes.Amount;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.BoundedMap;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Events of pods that wait for VRAM. Each replica writes them, under names that follow from the pod and the time of its wait, so
 * that the cluster has each once. Thread-safe.
 */
final class WaitingPods implements ResourceInformer.Listener, AutoCloseable {

    static final String REASON = "VramWaiting";

    /** Pods that are followed. More pods get no Event until some are scheduled. */
    static final int MOST_KEPT = 512;

    private static final ResourceKind PODS = ResourceKind.ofCluster("", "v1", "pods", "Pod");

    /** The pods without a node. */
    private static final Map<String, String> UNSCHEDULED = Map.of("spec.nodeName", "", "status.phase", "Pending");

    private static final Object ALL = new Object();
    private static final int BURST = 10;
    private static final Duration EACH = Duration.ofSeconds(2);

    /** The age at which the pods of a node are read again, so that many pods that wait cost few reads. */
    private static final Duration FRESH = Duration.ofSeconds(10);

    private static final int MOST_YIELDS = 3;
    private static final int MOST_ROOMS = 64;
    private static final int THREADS = 2;

    private record Read(NodeRoom room, long nanos) {}

    private final KubeClient api;
    private final String resource;
    private final Supplier<List<Amount>> nodes;
    private final Function<String, Optional<Map<String, Long>>> overBudget;
    private final VramEvents events;
    private final VramMetrics metrics;
    private final Clock clock;
    private final LongSupplier nanoTime;
    private final VramBudgets.Times times;
    private final RateLimit limit;
    private final Map<String, WaitingPod> pods = new ConcurrentHashMap<>();
    private final Map<String, Read> rooms = new BoundedMap<>(MOST_ROOMS, true);
    private final WorkQueue queue = new WorkQueue("VRAM for pod", THREADS).run(this::reconcile);
    private Optional<ResourceInformer> informer = Optional.empty();
    private boolean closed;

    /**
     * @param nodes all nodes that have the resource; must not block
     * @param overBudget the MiB above their budgets by UID of the pod, of a node; empty if it does not report them here
     */
    WaitingPods(
            KubeClient api,
            String resource,
            Supplier<List<Amount>> nodes,
            Function<String, Optional<Map<String, Long>>> overBudget,
            VramEvents events,
            VramMetrics metrics,
            Clock clock,
            LongSupplier nanoTime,
            VramBudgets.Times times) {
        this.api = api;
        this.resource = resource;
        this.nodes = nodes;
        this.overBudget = overBudget;
        this.events = events;
        this.metrics = metrics;
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.times = times;
        this.limit = new RateLimit(BURST, EACH.toNanos(), 1, nanoTime);
        queue.begin();
    }

    /** Follows the pods from now on, unless it does already. A cluster whose nodes lack the resource needs no such watch. */
    synchronized void follow() {
        if (informer.isEmpty() && !closed) {
            informer = Optional.of(api.informer(PODS, UNSCHEDULED, this, () -> {}));
        }
    }

    /** Returns the number of pods that wait for VRAM. */
    int size() {
        return pods.size();
    }

    @Override
    public void onUpsert(String name, Map<String, Object> tree) {
        Optional<WaitingPod> now = WaitingPod.of(tree, resource);
        if (now.isEmpty()) {
            pods.remove(name);
        } else if (pods.size() < MOST_KEPT || pods.containsKey(name)) {
            if (!now.get().equals(pods.put(name, now.get()))) {
                queue.add(name);
            }
        }
    }

    @Override
    public void onDelete(String name) {
        pods.remove(name);
    }

    private void reconcile(String name) throws InterruptedException {
        WaitingPod pod = pods.get(name);
        if (pod == null) {
            return;
        }
        Duration waited = Duration.between(pod.since(), clock.instant());
        List<Amount> all = nodes.get();
        List<Amount> shown = WaitingText.shown(pod, all);
        Map<String, Map<String, Long>> over = overBudget(shown);
        long number = Math.max(0, waited.minus(times.first()).dividedBy(times.again()));
        Duration due = times.first().plus(times.again().multipliedBy(number)).plus(yields(shown.size() - over.size()));
        if (waited.compareTo(due) < 0) {
            queue.addAfter(name, due.minus(waited));
            return;
        }
        if (!limit.take(ALL)) {
            queue.addAfter(name, EACH.multipliedBy(BURST));
            return;
        }
        String text = WaitingText.of(pod, resource, all, new WaitingText.Known(rooms(shown), over), waited);
        metrics.waiting.add(events.waiting(pod, REASON, text, number));
        queue.addAfter(
                name, times.first().plus(times.again().multipliedBy(number + 1)).minus(waited));
    }

    /** Returns the time for another replica to write the Event, which has the reports of more nodes. */
    private Duration yields(int unknown) {
        return times.settle().multipliedBy(Math.min(unknown, MOST_YIELDS));
    }

    private Map<String, Map<String, Long>> overBudget(List<Amount> shown) {
        Map<String, Map<String, Long>> known = new HashMap<>();
        for (Amount node : shown) {
            overBudget.apply(node.node()).ifPresent(over -> known.put(node.node(), over));
        }
        return known;
    }

    private Map<String, NodeRoom> rooms(List<Amount> shown) throws InterruptedException {
        Map<String, NodeRoom> found = new HashMap<>();
        for (Amount node : shown) {
            room(node.node()).ifPresent(room -> found.put(room.node(), room));
        }
        return found;
    }

    /** Returns the pods of a node; empty if they cannot be read. */
    private Optional<NodeRoom> room(String node) throws InterruptedException {
        synchronized (rooms) {
            Read before = rooms.get(node);
            if (before != null && nanoTime.getAsLong() - before.nanos() < FRESH.toNanos()) {
                return Optional.of(before.room());
            }
        }
        try {
            NodeRoom room = NodeRoom.read(api, node, resource);
            synchronized (rooms) {
                rooms.put(node, new Read(room, nanoTime.getAsLong()));
            }
            return Optional.of(room);
        } catch (ApiException e) {
            // The text names the node as one that could not be read.
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        Optional<ResourceInformer> open;
        synchronized (this) {
            closed = true;
            open = informer;
            informer = Optional.empty();
        }
        open.ifPresent(ResourceInformer::close);
        queue.close();
    }
}
