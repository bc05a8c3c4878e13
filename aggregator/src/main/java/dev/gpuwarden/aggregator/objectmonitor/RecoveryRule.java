package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rule that decides when a faulty object has recovered, once its predicate is no longer true. Pure. */
final class RecoveryRule {

    /** The shortest time that proves anything: a kubelet waits as long after the second end of a container. */
    private static final Duration LEAST = Duration.ofSeconds(10);

    /** The time after which a container has left its crash loop, by the kubelet's rule. */
    private static final Duration MOST = Duration.ofMinutes(10);

    private RecoveryRule() {}

    /**
     * Returns the time from which the object is well if nothing else happens; empty if something must happen first.
     *
     * <p>A pod is well when its phase is Succeeded, or all of its containers are ready. A container that has ended before must
     * in addition run for twice as long as it did then. In a crash loop, a container without a readiness probe is ready for a
     * moment in each round. Other objects are well immediately.
     */
    static Optional<Instant> from(ResourceType type, Map<String, Object> object) {
        Map<String, Object> status = JsonTrees.object(object, "status");
        if (!type.isPod() || JsonTrees.text(status, "phase").equals("Succeeded")) {
            return Optional.of(Instant.EPOCH);
        }
        List<Map<String, Object>> statuses = JsonTrees.objects(status, "containerStatuses");
        int wanted = JsonTrees.objects(JsonTrees.object(object, "spec"), "containers")
                .size();
        boolean ready = !statuses.isEmpty()
                && statuses.size() >= wanted
                && statuses.stream().allMatch(container -> JsonTrees.isTrue(container, "ready"));
        return ready ? statuses.stream().map(RecoveryRule::proved).max(Instant::compareTo) : Optional.empty();
    }

    /** Returns the time at which a container that is ready has run for long enough. */
    private static Instant proved(Map<String, Object> container) {
        Map<String, Object> before = JsonTrees.object(JsonTrees.object(container, "lastState"), "terminated");
        Optional<Instant> start =
                JsonTrees.time(JsonTrees.object(JsonTrees.object(container, "state"), "running"), "startedAt");
        if (before.isEmpty() || start.isEmpty()) {
            return Instant.EPOCH;
        }
        Duration ran = JsonTrees.time(before, "startedAt")
                .flatMap(from -> JsonTrees.time(before, "finishedAt").map(to -> Duration.between(from, to)))
                .orElse(Duration.ZERO);
        Duration twice = ran.compareTo(MOST) > 0 ? MOST : ran.multipliedBy(2);
        Duration enough = twice.compareTo(LEAST) < 0 ? LEAST : twice.compareTo(MOST) > 0 ? MOST : twice;
        return start.get().plus(enough);
    }
}
