package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.ingest.NodeLink;
import dev.gpuwarden.aggregator.ingest.NodeMessageKind;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Advertise;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** The nodes that report to this replica and use VRAM budgets. Any replica serves its own nodes; none has to lead. */
public final class VramNodes implements NodeMessageKind, AutoCloseable {

    /** Nodes whose pods are watched. Each watch is a connection. */
    static final int MOST_WATCHED = 2048;

    private static final int THREADS = 8;

    /** The shortest pause between two lists for a node, and the pause before the next try if it does not read. */
    private static final Duration LIST_PAUSE = Duration.ofMillis(500);

    private final KubeClient api;
    private final NodeCache cache;
    private final VramSettings settings;
    private final VramMetrics metrics;
    private final CapacityWriter writer;
    private final PodRemovals removals;
    private final LongSupplier nanoTime = System::nanoTime;
    private final Map<String, JoinedNode> nodes = new ConcurrentHashMap<>();
    private final WorkQueue values = new WorkQueue("advertised VRAM of node", THREADS).run(this::advertise);
    private final WorkQueue lists = new WorkQueue("VRAM budgets of node", THREADS).run(this::list);

    VramNodes(KubeClient api, NodeCache cache, VramSettings settings, VramEvents events, VramMetrics metrics) {
        this.api = api;
        this.cache = cache;
        this.settings = settings;
        this.metrics = metrics;
        this.writer = new CapacityWriter(api, settings, events, metrics, this::reportedGpus, nanoTime);
        this.removals = new PodRemovals(api, settings, events, metrics, nanoTime);
        values.begin();
        lists.begin();
        cache.listen(new NodeCache.Listener() {
            @Override
            public void node(String name, Optional<CachedNode> node, boolean ours) {
                changed(name, node);
            }
        });
        cache.names().forEach(name -> changed(name, cache.node(name)));
    }

    // ---- nodes come and go ----

    /** Returns the extended resource that this program serves. */
    public String resource() {
        return settings.resource();
    }

    @Override
    public Set<ReportCase> receives() {
        return Set.of(ReportCase.ADVERTISE, ReportCase.EVICT, ReportCase.OVER_BUDGET);
    }

    @Override
    public Optional<String> violation(NodeReport message) {
        return VramCodec.isGood(message)
                ? Optional.empty()
                : Optional.of(message.getReportCase() + ": a field is not valid");
    }

    @Override
    public void welcome(Welcome.Builder welcome) {
        welcome.setVramResource(settings.resource());
    }

    @Override
    public void joined(String node, NodeLink link, Hello hello) {
        if (hello.getVramResource().equals(settings.resource())) {
            replace(node, Optional.of(new JoinedNode(node, link)));
            lists.add(node);
        }
    }

    @Override
    public void left(String node, NodeLink link) {
        JoinedNode there = nodes.get(node);
        if (there != null && there.link() == link && nodes.remove(node, there)) {
            there.close();
        }
    }

    private void replace(String node, Optional<JoinedNode> now) {
        JoinedNode before = now.isPresent() ? nodes.put(node, now.get()) : nodes.remove(node);
        if (before != null) {
            before.close();
        }
    }

    @Override
    public void received(String node, NodeLink link, NodeReport report) {
        JoinedNode there = nodes.get(node);
        if (there == null || there.link() != link) {
            refuse(link, report);
        } else if (report.hasOverBudget()) {
            there.reports(report.getOverBudget());
        } else if (report.hasEvict()) {
            removals.asked(node, report.getEvict(), link::answer);
        } else {
            there.wants(report.getAdvertise());
            values.add(node);
        }
    }

    /** Answers a message of a node that is not served. A report of use has no answer. */
    private void refuse(NodeLink link, NodeReport report) {
        if (!report.hasOverBudget()) {
            String id = report.hasEvict()
                    ? report.getEvict().getId()
                    : report.getAdvertise().getId();
            link.answer(VramCodec.refused(id, "the node's Hello does not name " + settings.resource()));
        }
    }

    /** Queues a node whose Node has another value. Called for each change of each Node, so it must be fast. */
    private void changed(String name, Optional<CachedNode> node) {
        JoinedNode there = nodes.get(name);
        if (there != null) {
            lists.add(name);
        }
        Optional<Advertise> wanted = there == null ? Optional.empty() : there.wanted();
        if (node.isPresent() && differs(node.get(), wanted)) {
            values.add(name);
        }
    }

    /** Returns true if the Node must be written. One that may not have the resource loses it with or without its node. */
    private boolean differs(CachedNode node, Optional<Advertise> wanted) {
        if (!settings.permits(node.labels())) {
            return settings.advertises() && !writer.hasNothing(node);
        }
        return wanted.isPresent() && differs(node, wanted.get());
    }

    private boolean differs(CachedNode node, Advertise wanted) {
        return wanted.hasMib() ? !settings.capacity().has(node.tree(), wanted.getMib()) : !writer.hasNothing(node);
    }

    // ---- work ----

    private void advertise(String name) throws ApiException, InterruptedException {
        JoinedNode node = nodes.get(name);
        Optional<Advertise> wanted = node == null ? Optional.empty() : node.wanted();
        if (node == null || wanted.isEmpty()) {
            writer.removeFromExcluded(name);
            return;
        }
        if (!wanted.get().hasMib()
                && !node.hasAdvertised()
                && cache.node(name).filter(there -> writer.hasNothing(there)).isPresent()) {
            // Most nodes of a cluster without budgets; none of them costs the API server a request.
            node.answer(wanted.get(), true, "the Node has no " + settings.resource() + " of gpuwarden");
            return;
        }
        values.addAfter(name, writer.reconcile(node, wanted.get()));
    }

    private void list(String name) {
        JoinedNode node = nodes.get(name);
        if (node == null) {
            return;
        }
        if (node.watch().isEmpty()) {
            boolean needed = cache.node(name).filter(this::hasResource).isPresent();
            if (needed && watched() >= MOST_WATCHED) {
                node.sendUnknown("the aggregator watches the pods of " + MOST_WATCHED + " other nodes already");
                return;
            }
            if (needed) {
                node.keep(new PodWatch(api, name, settings.resource(), () -> lists.add(name)));
                return;
            }
        }
        long now = nanoTime.getAsLong();
        if (node.sinceNanos(now) < LIST_PAUSE.toNanos()) {
            lists.addAfter(name, LIST_PAUSE);
            return;
        }
        // Without the resource no pod on the node can have a budget.
        var pods = node.watch().map(PodWatch::pods).orElse(Optional.of(List.of()));
        if (pods.isPresent()) {
            switch (node.send(pods.get(), now)) {
                case SENT -> metrics.lists.increment();
                case NOT_NOW -> lists.addAfter(name, LIST_PAUSE);
                case SAME -> {}
            }
        }
    }

    /** Returns the number of GPUs in the node's report; empty where there is none. */
    private OptionalLong reportedGpus(String node) {
        Map<String, Object> status = JsonTrees.object(cache.health(node).orElse(Map.of()), "status");
        int listed = JsonTrees.objects(status, "gpus").size();
        return listed == 0 ? OptionalLong.empty() : OptionalLong.of(listed);
    }

    private boolean hasResource(CachedNode node) {
        return JsonTrees.object(JsonTrees.object(node.tree(), "status"), "capacity")
                .containsKey(settings.resource());
    }

    /** Returns the MiB above their budgets by UID of the pod; empty if the node does not report them to this replica. */
    Optional<Map<String, Long>> overBudget(String node) {
        JoinedNode there = nodes.get(node);
        return there == null ? Optional.empty() : there.overBudget();
    }

    // ---- metrics ----

    /** Returns the number of nodes that use budgets and report here. */
    public int joined() {
        return nodes.size();
    }

    /** Returns the number of nodes whose pods are watched. */
    public long watched() {
        return nodes.values().stream().filter(node -> node.watch().isPresent()).count();
    }

    /** Returns the number of nodes whose value could not be written; the write is retried. */
    public int failing() {
        return values.failing();
    }

    @Override
    public void close() {
        values.close();
        lists.close();
        removals.close();
        nodes.keySet().forEach(node -> replace(node, Optional.empty()));
    }
}
