package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeCache.Trim;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Resources;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.aggregator.ruleset.RuleSetStore;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Threads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/**
 * A reader of the state of a cluster's nodes, with the rights of the caller. Blocks. Writes nothing.
 *
 * @param namespace the namespace of the aggregator's Lease and ConfigMap
 * @param given the limits of the breaker; empty for those that the aggregator published
 */
public record FleetReader(KubeClient api, String namespace, Optional<List<Pool>> given) {

    private static final String EVENTS = "/api/v1/namespaces/default/events";

    /** Reads all nodes and assesses each. */
    public FleetSnapshot snapshot(Instant now) throws ApiException, InterruptedException {
        FutureTask<Map<String, Map<String, Object>>> task = new FutureTask<>(this::healths);
        Threads.daemon("gpuwarden-fleet-reading", task).start();
        BreakerStatus breaker = breaker(now);
        List<NodeFacts> nodes = new ArrayList<>();
        PoolCounts pools = nodes(breaker, nodes::add);
        Map<String, Map<String, Object>> healths = answer(task);
        boolean faults = healths.values().stream().anyMatch(FleetReader::faulty);
        ClusterContext around = around(faults, breaker, Seen.of(pools.census()));
        return new FleetSnapshot(
                now,
                nodes.stream()
                        .map(facts -> NodeAssessor.of(
                                facts,
                                Optional.ofNullable(healths.get(facts.node().name())),
                                around,
                                now))
                        .sorted(NodeAssessment.WORST_NODE_FIRST)
                        .toList(),
                nodes,
                around);
    }

    /** Returns the answer to a request on a thread of its own. Blocks until it has arrived. */
    private static <T> T answer(FutureTask<T> request) throws ApiException, InterruptedException {
        try {
            return request.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ApiException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private Map<String, Map<String, Object>> healths() throws ApiException, InterruptedException {
        Map<String, Map<String, Object>> healths = new HashMap<>();
        Pages.each(api, NodeHealthClient.ALL.path(), "", tree -> {
            Map<String, Object> health = Trim.other(tree);
            healths.put(JsonTrees.text(JsonTrees.object(health, "metadata"), "name"), health);
        });
        return healths;
    }

    /** Returns true if the node itself or a monitor of the cluster reports faults of it. */
    private static boolean faulty(Map<String, Object> health) {
        Map<String, Object> status = JsonTrees.object(health, "status");
        return hasFaults(status)
                || JsonTrees.objects(status, "monitors").stream().anyMatch(FleetReader::hasFaults);
    }

    private static boolean hasFaults(Map<String, Object> status) {
        return !JsonTrees.objects(status, "faults").isEmpty();
    }

    /** Reads one node; empty if the cluster has no Node of that name. */
    public Optional<NodeStory> node(String name, Instant now) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> tree = api.find(NodeCache.NODES.path(name));
        if (tree.isEmpty()) {
            return Optional.empty();
        }
        NodeFacts facts = NodeFacts.of(tree.get());
        Optional<Map<String, Object>> health = api.find(NodeHealthClient.ALL.path(name));
        BreakerStatus breaker = breaker(now);
        boolean faults = faulty(health.orElse(Map.of()));
        // The counts of other nodes matter only for a node that may be taken out of service.
        Seen<Map<String, PoolCount>> census =
                faults && !QuarantineSummary.marked(facts.node()) ? census(breaker) : Seen.of(Map.of());
        ClusterContext around = around(faults, breaker, census);
        NodeAssessment assessment = NodeAssessor.of(facts, health, around, now);
        Resources resources = NodePipelines.mayHaveOne(facts.node(), assessment)
                ? resources(facts.node())
                : new Resources(List.of(), "");
        return Optional.of(new NodeStory(
                now, facts, assessment, around, events(name), NodePipelines.of(facts.node(), assessment, resources)));
    }

    /** Reads the maintenance resources of a node. No selector of the API server has their node. */
    private Resources resources(CachedNode node) throws InterruptedException {
        List<MaintenanceRecord> all = new ArrayList<>();
        List<String> unread = new ArrayList<>();
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            try {
                Pages.each(api, kind.resources().path(), "", tree -> {
                    MaintenanceRecord each = MaintenanceRecord.of(kind, tree);
                    if (each.isFor(node.name(), node.uid())) {
                        all.add(each);
                    }
                });
            } catch (ApiException e) {
                // A cluster without the definitions has no resources.
                if (!e.notFound()) {
                    unread.add(kind.resources().plural() + "." + MaintenanceKind.GROUP + ": " + e.getMessage());
                }
            }
        }
        return new Resources(all, String.join("; ", unread));
    }

    /** Reads the state of the cluster as for a node that faults may take out of service. */
    public ClusterContext context(Instant now) throws InterruptedException {
        BreakerStatus breaker = breaker(now);
        return around(true, breaker, census(breaker));
    }

    private Seen<Map<String, PoolCount>> census(BreakerStatus breaker) throws InterruptedException {
        return ask(() -> nodes(breaker, facts -> {}).census());
    }

    private PoolCounts nodes(BreakerStatus breaker, Consumer<NodeFacts> consumer)
            throws ApiException, InterruptedException {
        PoolCounts pools = new PoolCounts(new BreakerPolicy(breaker.limited()));
        Pages.each(api, NodeCache.NODES.path(), "", tree -> {
            NodeFacts facts = NodeFacts.of(tree);
            pools.node(facts.node().name(), Optional.of(facts.node()));
            consumer.accept(facts);
        });
        return pools;
    }

    private ClusterContext around(boolean faults, BreakerStatus breaker, Seen<Map<String, PoolCount>> census)
            throws InterruptedException {
        // Compilation takes a second, and a cluster without faults does not need it.
        Seen<RuleEvaluator> rules = faults ? ask(this::rules) : Seen.of(RuleEvaluator.EMPTY);
        return new ClusterContext(rules, breaker, census, leader());
    }

    private RuleEvaluator rules() throws ApiException, InterruptedException {
        List<QuarantineRuleSet> sets = new ArrayList<>();
        Pages.each(api, RuleSetStore.KIND.path(), "", tree -> {
            try {
                sets.add(QuarantineRuleSet.of(tree));
            } catch (IllegalArgumentException e) {
                // The rule set's condition reports the error; the aggregator does not evaluate it either.
            }
        });
        return RuleEvaluator.compile(sets);
    }

    private Seen<List<Map<String, Object>>> events(String node) throws InterruptedException {
        return ask(() -> {
            List<Map<String, Object>> events = new ArrayList<>();
            Pages.each(
                    api,
                    EVENTS,
                    "fieldSelector=" + Pages.encoded("involvedObject.kind=Node,involvedObject.name=" + node),
                    event -> events.add(Trim.other(event)));
            return events;
        });
    }

    private BreakerStatus breaker(Instant now) throws InterruptedException {
        Seen<Map<String, Object>> map =
                present(BreakerConfigMap.kind(namespace).path(BreakerConfigMap.NAME), absent(namespace), Optional::of);
        return BreakerStatus.of(map, given, now);
    }

    /** Returns the message for a missing ConfigMap of the breaker. */
    public static String absent(String namespace) {
        return "there is no ConfigMap " + BreakerConfigMap.NAME + " in namespace " + namespace
                + ": no aggregator with quarantine has led here yet, or it keeps it elsewhere (--cluster.namespace)";
    }

    public Seen<Leader> leader() throws InterruptedException {
        return present(
                "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + Manager.LEASE,
                "there is no Lease " + Manager.LEASE + " in namespace " + namespace
                        + ": no aggregator has ever led there",
                Leader::of);
    }

    // ---- requests ----

    /** A request to the cluster, which blocks until the answer arrives. */
    public interface Question<T> {
        T ask() throws ApiException, InterruptedException;
    }

    private interface Reader<T> {
        Optional<T> read(Map<String, Object> tree);
    }

    public static <T> Seen<T> ask(Question<T> question) throws InterruptedException {
        try {
            return Seen.of(question.ask());
        } catch (ApiException e) {
            return Seen.unknown(String.valueOf(e.getMessage()));
        }
    }

    private <T> Seen<T> present(String path, String absent, Reader<T> reader) throws InterruptedException {
        Seen<Optional<Map<String, Object>>> seen = ask(() -> api.find(path));
        if (seen.value().isEmpty()) {
            return Seen.unknown(seen.why());
        }
        Optional<T> value = seen.value().get().flatMap(reader::read);
        return value.map(Seen::of).orElseGet(() -> Seen.unknown(absent));
    }

    /** Returns the caller's user name, as the API server reports it. */
    public static Seen<String> user(KubeClient api) throws InterruptedException {
        return ask(() -> {
            Map<String, Object> review = api.create(
                    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                    Map.of("apiVersion", "authentication.k8s.io/v1", "kind", "SelfSubjectReview"));
            return JsonTrees.text(JsonTrees.object(JsonTrees.object(review, "status"), "userInfo"), "username");
        });
    }

    /**
     * The assessed nodes of a cluster at one time.
     *
     * @param nodes the assessments, the worst first
     * @param facts the facts of all nodes, in no order
     */
    public record FleetSnapshot(Instant at, List<NodeAssessment> nodes, List<NodeFacts> facts, ClusterContext around) {}

    /**
     * The assessment of one node, with its facts, its cluster and its Events.
     *
     * @param events the Kubernetes Events, as the API server returns them
     * @param pipeline the stages of its repair; empty for a node that needs none
     */
    public record NodeStory(
            Instant at,
            NodeFacts facts,
            NodeAssessment assessment,
            ClusterContext around,
            Seen<List<Map<String, Object>>> events,
            Optional<NodePipeline> pipeline) {}
}
