package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ReadyConditionWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The reconciler of the status of policies. Thread-safe for different policies. */
final class PolicyStatusReconciler {

    /** The shortest time between two writes of counts alone. */
    private static final Duration PAUSE = Duration.ofSeconds(30);

    private final ReadyConditionWriter status;
    private final Clock clock;
    private final PolicyStore shelf;
    private final Function<String, Optional<PolicyStatus>> statuses;
    private final Map<String, Instant> counted = new ConcurrentHashMap<>();

    PolicyStatusReconciler(
            KubeClient api, Clock clock, PolicyStore shelf, Function<String, Optional<PolicyStatus>> statuses) {
        this.status = new ReadyConditionWriter(api, clock, PolicyStore.KIND);
        this.clock = clock;
        this.shelf = shelf;
        this.statuses = statuses;
    }

    /** Returns whether the status must be written. */
    boolean isOutdated(PolicyStatus status) {
        return !sameCondition(status) || !sameCounts(status) && isDue(status.policy());
    }

    private boolean isDue(String policy) {
        return counted.getOrDefault(policy, Instant.MIN)
                .isBefore(clock.instant().minus(PAUSE));
    }

    /** Writes the status of a policy. Blocks until it is stored. */
    void updateStatus(String policy) throws ApiException, InterruptedException {
        Optional<PolicyStatus> wanted = statuses.apply(policy);
        if (wanted.isEmpty() || sameCondition(wanted.get()) && sameCounts(wanted.get())) {
            return;
        }
        counted.put(policy, clock.instant());
        status.write(
                policy, resource(policy), wanted.get().condition(), wanted.get().counts());
    }

    private boolean sameCondition(PolicyStatus wanted) {
        return ReadyConditionWriter.hasCondition(resource(wanted.policy()), wanted.condition());
    }

    private boolean sameCounts(PolicyStatus wanted) {
        return ReadyConditionWriter.has(resource(wanted.policy()), wanted.counts());
    }

    private Map<String, Object> resource(String policy) {
        return shelf.entry(policy).map(PolicyStore.Entry::tree).orElse(Map.of());
    }
}
