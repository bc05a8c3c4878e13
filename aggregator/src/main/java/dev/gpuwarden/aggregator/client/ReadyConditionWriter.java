package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A writer of the condition Ready and of other status fields, for the authors of one kind of resources. Thread-safe. */
public record ReadyConditionWriter(KubeClient api, Clock clock, ResourceKind kind) {

    private static final String MANAGER = "gpuwarden-aggregator";

    /** Returns the condition in the form of the resource's status, without the time of its last change. */
    public static Map<String, Object> condition(boolean ready, long generation, String reason, String message) {
        return Map.of(
                "type", "Ready",
                "status", ready ? "True" : "False",
                "observedGeneration", generation,
                "reason", reason,
                "message", message);
    }

    /** @param condition the whole condition except the time of its last transition */
    public static boolean hasCondition(Map<String, Object> resource, Map<String, Object> condition) {
        return same(condition, ready(resource));
    }

    /** @param more status fields beside the conditions */
    public static boolean has(Map<String, Object> resource, Map<String, Object> more) {
        return same(more, JsonTrees.object(resource, "status"));
    }

    private static boolean same(Map<String, Object> wanted, Map<String, Object> there) {
        return wanted.entrySet().stream()
                .allMatch(field -> String.valueOf(field.getValue()).equals(String.valueOf(there.get(field.getKey()))));
    }

    private static Map<String, Object> ready(Map<String, Object> resource) {
        return JsonTrees.objects(JsonTrees.object(resource, "status"), "conditions").stream()
                .filter(condition -> JsonTrees.text(condition, "type").equals("Ready"))
                .findFirst()
                .orElse(Map.of());
    }

    /**
     * Writes the condition and the fields. Blocks until both are stored. A resource deleted during this time needs neither.
     *
     * @param resource the resource as last read
     */
    public void write(
            String name, Map<String, Object> resource, Map<String, Object> condition, Map<String, Object> more)
            throws ApiException, InterruptedException {
        Map<String, Object> before = ready(resource);
        boolean stands = JsonTrees.text(condition, "status").equals(JsonTrees.text(before, "status"));
        Map<String, Object> now = new LinkedHashMap<>(condition);
        now.put(
                "lastTransitionTime",
                stands
                        ? JsonTrees.text(before, "lastTransitionTime")
                        : clock.instant().truncatedTo(ChronoUnit.SECONDS).toString());
        Map<String, Object> status = new LinkedHashMap<>(more);
        status.put("conditions", List.of(now));
        Map<String, Object> body = new LinkedHashMap<>(Map.of("apiVersion", kind.apiVersion(), "kind", kind.kind()));
        body.put("metadata", Map.of("name", name));
        body.put("status", status);
        try {
            var unused = api.apply(kind.path(name) + "/status", MANAGER, body);
        } catch (ApiException e) {
            if (!e.notFound()) {
                throw e;
            }
        }
    }
}
