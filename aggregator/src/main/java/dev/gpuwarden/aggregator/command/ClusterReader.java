package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.Census;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.cluster.Pages;
import dev.gpuwarden.aggregator.control.Steering;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.Lean;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.json.Trees;
import dev.gpuwarden.aggregator.quarantine.BreakerStore;
import dev.gpuwarden.aggregator.quarantine.Inspection;
import dev.gpuwarden.aggregator.quarantine.Pools;
import dev.gpuwarden.aggregator.rules.RuleBook;
import dev.gpuwarden.aggregator.rules.RuleSet;
import dev.gpuwarden.aggregator.rules.RuleShelf;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads what there is to be known of a cluster's nodes, with the rights of whoever asks. Blocks. Writes nothing. */
final class ClusterReader {

    private static final String EVENTS = "/api/v1/namespaces/default/events";

    private final ClusterApi api;
    private final String namespace;
    private final Optional<List<Pool>> given;

    /**
     * @param namespace of the aggregator's Lease and ConfigMap
     * @param given limits of the breaker; empty for those that the aggregator says
     */
    ClusterReader(ClusterApi api, String namespace, Optional<List<Pool>> given) {
        this.api = api;
        this.namespace = namespace;
        this.given = given;
    }

    /** All nodes, each as it is now. */
    FleetLook fleet(Instant now) throws ClusterException, InterruptedException {
        Aside<Map<String, Map<String, Object>>> told = Aside.begin(this::healths);
        BreakerLook breaker = breaker(now);
        List<NodeFacts> nodes = new ArrayList<>();
        Pools pools = new Pools(new Breaker(breaker.limited()));
        Pages.each(api, Fleet.NODES.path(), "", tree -> {
            NodeFacts facts = NodeFacts.of(tree);
            pools.node(facts.node().name(), Optional.of(facts.node()));
            nodes.add(facts);
        });
        Map<String, Map<String, Object>> healths = told.get();
        boolean faults = healths.values().stream().anyMatch(ClusterReader::faulty);
        Around around = around(faults, breaker, Seen.of(pools.census()));
        return new FleetLook(
                now,
                nodes.stream()
                        .map(facts -> NodeLooks.of(
                                facts,
                                Optional.ofNullable(healths.get(facts.node().name())),
                                around,
                                now))
                        .sorted(NodeLook.WORST_NODE_FIRST)
                        .toList(),
                nodes,
                around);
    }

    private Map<String, Map<String, Object>> healths() throws ClusterException, InterruptedException {
        Map<String, Map<String, Object>> healths = new HashMap<>();
        Pages.each(api, NodeHealths.ALL.path(), "", tree -> {
            Map<String, Object> health = Lean.other(tree);
            healths.put(Trees.text(Trees.object(health, "metadata"), "name"), health);
        });
        return healths;
    }

    /** Its own faults, or what monitors of the whole cluster tell of it. */
    private static boolean faulty(@org.jspecify.annotations.Nullable Map<String, Object> health) {
        if (health == null) {
            return false;
        }
        Map<String, Object> status = Trees.object(health, "status");
        return hasFaults(status) || Trees.objects(status, "monitors").stream().anyMatch(ClusterReader::hasFaults);
    }

    private static boolean hasFaults(Map<String, Object> told) {
        return !Trees.objects(told, "faults").isEmpty();
    }

    /** One node; empty where there is none of that name. */
    Optional<NodeStory> node(String name, Instant now) throws ClusterException, InterruptedException {
        Optional<Map<String, Object>> tree = find(Fleet.NODES.path(name));
        if (tree.isEmpty()) {
            return Optional.empty();
        }
        NodeFacts facts = NodeFacts.of(tree.get());
        Optional<Map<String, Object>> health = find(NodeHealths.ALL.path(name));
        BreakerLook breaker = breaker(now);
        boolean faults = faulty(health.orElse(Map.of()));
        // Only who asks to be taken out of service is measured by the others.
        Seen<Map<String, Census>> census =
                faults && !Inspection.marked(facts.node()) ? census(breaker) : Seen.of(Map.of());
        Around around = around(faults, breaker, census);
        return Optional.of(new NodeStory(now, facts, NodeLooks.of(facts, health, around, now), around, events(name)));
    }

    private Seen<Map<String, Census>> census(BreakerLook breaker) throws InterruptedException {
        Pools pools = new Pools(new Breaker(breaker.limited()));
        return ask(() -> {
            Pages.each(api, Fleet.NODES.path(), "", tree -> {
                NodeFacts facts = NodeFacts.of(tree);
                pools.node(facts.node().name(), Optional.of(facts.node()));
            });
            return pools.census();
        });
    }

    private Around around(boolean faults, BreakerLook breaker, Seen<Map<String, Census>> census)
            throws InterruptedException {
        // To compile them takes a second, for nothing where nothing is wrong.
        Seen<RuleBook> rules = faults ? ask(this::rules) : Seen.of(RuleBook.EMPTY);
        return new Around(rules, breaker, census, leader());
    }

    private RuleBook rules() throws ClusterException, InterruptedException {
        List<RuleSet> sets = new ArrayList<>();
        Pages.each(api, RuleShelf.KIND.path(), "", tree -> {
            try {
                sets.add(RuleSet.of(tree));
            } catch (IllegalArgumentException e) {
                // Its own condition says so; the aggregator does not ask it either.
            }
        });
        return RuleBook.compile(sets);
    }

    private Seen<List<Map<String, Object>>> events(String node) throws InterruptedException {
        return ask(() -> {
            List<Map<String, Object>> events = new ArrayList<>();
            Pages.each(
                    api,
                    EVENTS,
                    "fieldSelector=" + Pages.encoded("involvedObject.kind=Node,involvedObject.name=" + node),
                    event -> events.add(Lean.other(event)));
            return events;
        });
    }

    private BreakerLook breaker(Instant now) throws InterruptedException {
        Seen<Map<String, Object>> map =
                present(BreakerStore.kind(namespace).path(BreakerStore.NAME), absent(namespace), Optional::of);
        return BreakerLook.of(map, given, now);
    }

    /** What it means that there is no ConfigMap of the breaker. */
    static String absent(String namespace) {
        return "there is no ConfigMap " + BreakerStore.NAME + " in namespace " + namespace
                + ": no aggregator with quarantine has led here yet, or it keeps it elsewhere (--cluster.namespace)";
    }

    Seen<Leader> leader() throws InterruptedException {
        return present(
                "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + Steering.LEASE,
                "there is no Lease " + Steering.LEASE + " in namespace " + namespace
                        + ": no aggregator has ever led there",
                Leader::of);
    }

    // ---- asking ----

    private interface Reader<T> {
        Optional<T> read(Map<String, Object> tree);
    }

    static <T> Seen<T> ask(Aside.Question<T> question) throws InterruptedException {
        try {
            return Seen.of(question.ask());
        } catch (ClusterException e) {
            return Seen.unknown(String.valueOf(e.getMessage()));
        }
    }

    private <T> Seen<T> present(String path, String absent, Reader<T> reader) throws InterruptedException {
        Seen<Optional<Map<String, Object>>> seen = ask(() -> find(path));
        if (seen.value().isEmpty()) {
            return Seen.unknown(seen.why());
        }
        Optional<T> value = seen.value().get().flatMap(reader::read);
        return value.map(Seen::of).orElseGet(() -> Seen.unknown(absent));
    }

    private Optional<Map<String, Object>> find(String path) throws ClusterException, InterruptedException {
        try {
            return Optional.of(api.get(path));
        } catch (ClusterException e) {
            if (e.notFound()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Who the caller is to the API server. */
    static Seen<String> user(ClusterApi api) throws InterruptedException {
        return ask(() -> {
            Map<String, Object> review = api.create(
                    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                    Map.of("apiVersion", "authentication.k8s.io/v1", "kind", "SelfSubjectReview"));
            return Trees.text(Trees.object(Trees.object(review, "status"), "userInfo"), "username");
        });
    }
}
