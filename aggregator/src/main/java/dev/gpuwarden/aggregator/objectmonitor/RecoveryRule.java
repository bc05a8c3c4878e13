package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** When an object that was wrong has recovered, once its predicate is no longer true. Pure. */
final class RecoveryRule {

    /** What runs for less has proved nothing: so long a kubelet waits after the second end of a container. */
    private static final Duration LEAST = Duration.ofSeconds(10);

    /** What has run for so long has left its crash loop, as kubelets see it. */
    private static final Duration MOST = Duration.ofMinutes(10);

    private RecoveryRule() {}

    /**
     * From when on it is well, if nothing else happens; empty where something has to. A pod is well when it has done its work, or
     * all of its containers are ready, and those that have ended before run for twice as long as they did then: in a crash loop
     * a container without a readiness probe is ready for a moment again and again. Everything else is well when nothing says
     * otherwise.
     */
    static Optional<Instant> from(ResourceType type, Map<String, Object> object) {
        Map<String, Object> status = JsonTrees.object(object, "status");
        if (!type.isPod() || JsonTrees.text(status, "phase").equals("Succeeded")) {
            return Optional.of(Instant.EPOCH);
        }
        List<Map<String, Object>> told = JsonTrees.objects(status, "containerStatuses");
        int wanted = JsonTrees.objects(JsonTrees.object(object, "spec"), "containers")
                .size();
        boolean ready = !told.isEmpty()
                && told.size() >= wanted
                && told.stream().allMatch(container -> JsonTrees.isTrue(container, "ready"));
        return ready ? told.stream().map(RecoveryRule::proved).max(Instant::compareTo) : Optional.empty();
    }

    /** When a container that is ready has run for long enough. */
    private static Instant proved(Map<String, Object> container) {
        Map<String, Object> before = JsonTrees.object(JsonTrees.object(container, "lastState"), "terminated");
        Optional<Instant> start = time(JsonTrees.object(JsonTrees.object(container, "state"), "running"), "startedAt");
        if (before.isEmpty() || start.isEmpty()) {
            return Instant.EPOCH;
        }
        Duration ran = time(before, "startedAt")
                .flatMap(from -> time(before, "finishedAt").map(to -> Duration.between(from, to)))
                .orElse(Duration.ZERO);
        Duration twice = ran.compareTo(MOST) > 0 ? MOST : ran.multipliedBy(2);
        Duration enough = twice.compareTo(LEAST) < 0 ? LEAST : twice.compareTo(MOST) > 0 ? MOST : twice;
        return start.get().plus(enough);
    }

    private static Optional<Instant> time(Map<String, Object> tree, String field) {
        try {
            return Optional.of(Instant.parse(JsonTrees.text(tree, field)));
        } catch (DateTimeParseException unset) {
            return Optional.empty();
        }
    }
}
