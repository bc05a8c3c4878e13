package dev.gpuwarden.aggregator.ruleset;

import dev.gpuwarden.aggregator.cel.KnownFields.Type;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A health event as a plain tree, with NVSentinel's names (health_event.proto). Expressions see it as `event`, and annotations
 * contain it. Every field is there, even if the event does not set it.
 */
public final class HealthEventFields {

    private static final Map<String, Type> FIELDS = fields();

    private HealthEventFields() {}

    private static Map<String, Type> fields() {
        Map<String, Type> fields = new TreeMap<>();
        of(HealthEvent.of("", "", "").build()).forEach((name, value) -> {
            fields.put(
                    name,
                    value instanceof Boolean
                            ? Type.BOOL
                            : value instanceof Long
                                    ? Type.INT
                                    : value instanceof List ? Type.LIST : value instanceof Map ? Type.MAP : Type.TEXT);
        });
        return fields;
    }

    public static Map<String, Type> types() {
        return FIELDS;
    }

    /** Returns the tree of an event. Numbers are longs and maps are sorted, so that equal events give equal trees. */
    public static Map<String, Object> of(HealthEvent event) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("version", (long) event.version());
        tree.put("agent", event.agent());
        tree.put("componentClass", event.componentClass());
        tree.put("checkName", event.checkName());
        tree.put("isFatal", event.fatal());
        tree.put("isHealthy", event.healthy());
        tree.put("message", event.message());
        tree.put("recommendedAction", (long) event.action().number());
        tree.put("errorCode", event.errorCodes());
        tree.put(
                "entitiesImpacted",
                event.entities().stream()
                        .map(entity -> Map.of("entityType", entity.type(), "entityValue", entity.value()))
                        .map(TreeMap::new)
                        .toList());
        tree.put("metadata", new TreeMap<>(event.metadata()));
        Map<String, Object> generated = new LinkedHashMap<>();
        generated.put("seconds", event.generated().getEpochSecond());
        generated.put("nanos", (long) event.generated().getNano());
        tree.put("generatedTimestamp", generated);
        tree.put("nodeName", event.nodeName());
        tree.put("quarantineOverrides", overrides(event.quarantine()));
        tree.put("drainOverrides", overrides(event.drain()));
        tree.put("processingStrategy", (long) event.strategy().ordinal());
        tree.put("id", event.id());
        tree.put("customRecommendedAction", event.customAction());
        return tree;
    }

    private static Map<String, Object> overrides(Overrides overrides) {
        return new TreeMap<>(Map.of("force", overrides.force(), "skip", overrides.skip()));
    }
}
