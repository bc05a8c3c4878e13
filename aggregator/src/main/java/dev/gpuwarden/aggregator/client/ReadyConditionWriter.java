package dev.gpuwarden.aggregator.client;

import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tells the authors of a kind of resources how each of theirs is: its condition Ready, and what else its status has. Thread-safe. */
public final class ReadyConditionWriter {

    private static final String MANAGER = "gpuwarden-aggregator";

    private final KubeClient api;
    private final Clock clock;
    private final ResourceKind kind;

    public ReadyConditionWriter(KubeClient api, Clock clock, ResourceKind kind) {
        this.api = api;
        this.clock = clock;
        this.kind = kind;
    }

    /** @param condition all of it but the time at which its status became another one */
    public static boolean says(Map<String, Object> resource, Map<String, Object> condition) {
        return same(condition, ready(resource));
    }

    /** @param more of the status beside the conditions */
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
     * Writes both. Blocks until they are there; one that was deleted meanwhile needs none.
     *
     * @param resource as it is known to be
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
        try {
            var unused = api.apply(
                    kind.path(name) + "/status",
                    MANAGER,
                    Map.of(
                            "apiVersion",
                            kind.apiVersion(),
                            "kind",
                            kind.kind(),
                            "metadata",
                            Map.of("name", name),
                            "status",
                            status));
        } catch (ApiException e) {
            if (!e.notFound()) {
                throw e;
            }
        }
    }
}
