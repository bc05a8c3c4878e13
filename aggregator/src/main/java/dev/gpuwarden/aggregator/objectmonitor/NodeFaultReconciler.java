package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.core.event.Fault;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The reconciler of the faults that this monitor reports in each NodeHealth. At the start it reads them. Thread-safe. */
final class NodeFaultReconciler {

    private static final System.Logger LOG = System.getLogger(NodeFaultReconciler.class.getName());

    private final NodeCache cache;
    private final NodeHealthClient healths;
    private final MatchIndex book;
    private final PolicyStore shelf;
    private final Predicate<String> held;
    private final Clock clock;
    private final MonitorMetrics metrics;
    private final Optional<PolicyMatches> annotations;
    private final Set<String> missing = ConcurrentHashMap.newKeySet();

    /** @param held true for the name of a policy that may report nothing new now */
    NodeFaultReconciler(
            KubeClient api,
            NodeCache cache,
            MatchIndex book,
            PolicyStore shelf,
            Predicate<String> held,
            Clock clock,
            MonitorMetrics metrics,
            boolean annotate) {
        this.cache = cache;
        this.healths = new NodeHealthClient(api, cache);
        this.book = book;
        this.shelf = shelf;
        this.held = held;
        this.clock = clock;
        this.metrics = metrics;
        this.annotations = annotate ? Optional.of(new PolicyMatches(api)) : Optional.empty();
    }

    /** Reads the faults that an earlier leader reported. */
    void recall() {
        for (String node : cache.healthNames()) {
            cache.health(node)
                    .ifPresent(health -> reported(node, health)
                            .forEach((key, match) -> book.put(key.policy(), key.object(), match)));
        }
    }

    private static Map<Match.Key, Match> reported(String node, Map<String, Object> health) {
        try {
            return NodeFaults.matches(node, NodeHealthClient.reported(health, node, NodeFaults.AGENT));
        } catch (UnreadableNodeHealth e) {
            LOG.log(Level.WARNING, String.valueOf(e.getMessage()));
            return Map.of();
        }
    }

    /**
     * Returns a listener of the cache. The cache can miss a write, if its answer is lost while the watch is broken: an earlier
     * reconciliation then found nothing to do, or {@link #recall} not all faults.
     *
     * @param incomplete true for the name of a policy whose matches are not all known, so that a fault without a match stays
     * @param again called for a node whose faults must be reconciled again; must be quick
     */
    NodeCache.Listener listener(Predicate<String> incomplete, Consumer<String> again) {
        return new NodeCache.Listener() {
            @Override
            public void node(String name, Optional<CachedNode> node, boolean ours) {
                if (!ours && (node.filter(PolicyMatches::has).isPresent() || book.has(name))) {
                    again.accept(name);
                }
            }

            @Override
            public void health(String name, Optional<Map<String, Object>> health) {
                Optional<Map<String, Object>> reports = health.filter(NodeFaults::any);
                reports.ifPresent(tree -> reported(name, tree)
                        .forEach((key, match) -> book.recall(key.policy(), key.object(), match, incomplete)));
                if (reports.isPresent() || book.has(name)) {
                    again.accept(name);
                }
            }
        };
    }

    /** Reconciles the faults of one node. Blocks. */
    void settle(String node) throws ApiException, InterruptedException {
        Map<Match.Key, Match> matches = book.ofNode(node);
        Optional<CachedNode> there = cache.node(node);
        if (there.isEmpty()) {
            boolean unused = matches.isEmpty() ? missing.remove(node) : missing.add(node);
            return;
        }
        missing.remove(node);
        Set<Match.Key> before = new HashSet<>();
        Set<Match.Key> after = new TreeSet<>(Comparator.comparing(Match.Key::toString));
        try {
            boolean written = healths.settle(
                    node,
                    NodeFaults.AGENT,
                    reported -> {
                        List<Fault> wanted =
                                NodeFaults.wanted(node, matches, shelf::template, held, reported, clock.instant());
                        before.clear();
                        after.clear();
                        reported.forEach(fault -> before.add(NodeFaults.key(fault)));
                        wanted.forEach(fault -> after.add(NodeFaults.key(fault)));
                        return wanted;
                    },
                    clock.instant());
            if (written) {
                metrics.writes.increment();
                long now = System.nanoTime();
                after.stream()
                        .filter(key -> !before.contains(key))
                        .flatMap(key -> NodeFaults.receivedNanos(key, matches).stream())
                        .forEach(receivedNanos -> metrics.changeToEvent.add(now - receivedNanos));
            }
        } catch (NoSuchNode e) {
            missing.add(node);
            return;
        } catch (UnreadableNodeHealth e) {
            LOG.log(Level.WARNING, "NodeHealth left unchanged: " + e.getMessage());
            return;
        }
        if (annotations.isPresent()) {
            annotations.get().settle(there.get(), after);
        }
    }

    /** Returns the nodes that objects concern and that do not exist. */
    Set<String> missing() {
        return new TreeSet<>(missing);
    }

    void forget() {
        missing.clear();
    }

    /** The annotation of a Node with the objects that are reported for it. It is for operators; no program here reads it. */
    record PolicyMatches(KubeClient api) {

        /**
         * NVSentinel's annotation. Its keys are policy/namespace/name, with commas between; the policy alone if objects are
         * counted.
         */
        static final String ANNOTATION = "nvsentinel.dgxc.nvidia.com/policy-matches";

        private static final String MANAGER = "gpuwarden-object-monitor";
        private static final int MOST = 64;

        static String text(Collection<Match.Key> keys) {
            List<String> all = keys.stream().map(Match.Key::toString).sorted().toList();
            String some = all.stream().limit(MOST).collect(Collectors.joining(","));
            return all.size() <= MOST ? some : some + ",and " + (all.size() - MOST) + " more";
        }

        static boolean has(CachedNode node) {
            return node.annotations().containsKey(ANNOTATION);
        }

        /** Blocks until the Node has the annotation. The informer delivers the changed Node. */
        void settle(CachedNode node, Collection<Match.Key> keys) throws ApiException, InterruptedException {
            String wanted = text(keys);
            if (node.annotations().getOrDefault(ANNOTATION, "").equals(wanted)) {
                return;
            }
            Map<String, Object> metadata = new LinkedHashMap<>();
            metadata.put("name", node.name());
            // Without the uid, server-side apply would create a Node that was deleted.
            metadata.put("uid", node.uid());
            if (!wanted.isEmpty()) {
                metadata.put("annotations", Map.of(ANNOTATION, wanted));
            }
            try {
                var unused = api.apply(
                        NodeCache.NODES.path(node.name()),
                        MANAGER,
                        Map.of("apiVersion", "v1", "kind", "Node", "metadata", metadata));
            } catch (ApiException e) {
                if (!e.notFound() && !e.conflict()) {
                    throw e;
                }
            }
        }
    }
}
