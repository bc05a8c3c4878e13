package dev.gpuwarden.aggregator.monitor;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.json.Trees;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Writes into the status of policies what there is to be said of them. Thread-safe for different policies. */
final class PolicyTeller {

    private static final String MANAGER = "gpuwarden-aggregator";

    /** Counts alone are not worth more. */
    private static final Duration PAUSE = Duration.ofSeconds(30);

    private final ClusterApi api;
    private final Clock clock;
    private final PolicyShelf shelf;
    private final Function<String, Optional<PolicyStatus>> statuses;
    private final Map<String, Instant> counted = new ConcurrentHashMap<>();

    PolicyTeller(ClusterApi api, Clock clock, PolicyShelf shelf, Function<String, Optional<PolicyStatus>> statuses) {
        this.api = api;
        this.clock = clock;
        this.shelf = shelf;
        this.statuses = statuses;
    }

    /** Whether there is something to write. */
    boolean wants(PolicyStatus status) {
        return !sameCondition(status) || !sameCounts(status) && isDue(status.policy());
    }

    private boolean isDue(String policy) {
        return counted.getOrDefault(policy, Instant.MIN)
                .isBefore(clock.instant().minus(PAUSE));
    }

    /** Blocks until it is there. */
    void tell(String policy) throws ClusterException, InterruptedException {
        Optional<PolicyStatus> wanted = statuses.apply(policy);
        if (wanted.isEmpty() || sameCondition(wanted.get()) && sameCounts(wanted.get())) {
            return;
        }
        Map<String, Object> there = condition(policy);
        Map<String, Object> condition = new LinkedHashMap<>(wanted.get().condition());
        boolean stands = Trees.text(condition, "status").equals(Trees.text(there, "status"));
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        condition.put("lastTransitionTime", stands ? Trees.text(there, "lastTransitionTime") : now);
        Map<String, Object> status = new LinkedHashMap<>(wanted.get().counts());
        status.put("conditions", List.of(condition));
        counted.put(policy, clock.instant());
        try {
            var unused = api.apply(
                    PolicyShelf.KIND.path(policy) + "/status",
                    MANAGER,
                    Map.of(
                            "apiVersion", PolicyShelf.KIND.apiVersion(),
                            "kind", PolicyShelf.KIND.kind(),
                            "metadata", Map.of("name", policy),
                            "status", status));
        } catch (ClusterException e) {
            if (!e.notFound()) {
                throw e;
            }
        }
    }

    private boolean sameCondition(PolicyStatus status) {
        return same(status.condition(), condition(status.policy()));
    }

    private boolean sameCounts(PolicyStatus status) {
        return same(status.counts(), status(status.policy()));
    }

    private static boolean same(Map<String, Object> wanted, Map<String, Object> there) {
        return wanted.entrySet().stream()
                .allMatch(field -> String.valueOf(field.getValue()).equals(String.valueOf(there.get(field.getKey()))));
    }

    private Map<String, Object> status(String policy) {
        return shelf.entry(policy)
                .map(entry -> Trees.object(entry.tree(), "status"))
                .orElse(Map.of());
    }

    private Map<String, Object> condition(String policy) {
        return Trees.objects(status(policy), "conditions").stream()
                .filter(condition -> Trees.text(condition, "type").equals("Ready"))
                .findFirst()
                .orElse(Map.of());
    }
}
