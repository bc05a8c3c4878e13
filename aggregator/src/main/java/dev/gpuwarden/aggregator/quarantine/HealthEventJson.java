package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.HealthEventFields;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The codec of NVSentinel's annotation of health events: a bounded JSON list without empty fields. */
final class HealthEventJson {

    /**
     * The longest text, in characters. All annotations of one object may have 256 KiB; one event of the largest kind has some
     * 40.
     */
    static final int LONGEST = 64 * 1024;

    private static final int LONGEST_MESSAGE = 1024;
    private static final int MOST_METADATA = 1024;

    private HealthEventJson() {}

    /** Writes as many events as fit, from the last one on: a fault younger than all in the list is not one of them. */
    static String write(List<HealthEvent> events) {
        StringBuilder text = new StringBuilder("[");
        for (int i = events.size() - 1; i >= 0; i--) {
            String item = Json.write(tree(events.get(i)));
            if (text.length() + item.length() + 2 <= LONGEST) {
                text.append(text.length() == 1 ? "" : ",").append(item);
            }
        }
        return text.append(']').toString();
    }

    private static Map<String, Object> tree(HealthEvent event) {
        Map<String, Object> tree = HealthEventFields.of(event);
        if (event.message().length() > LONGEST_MESSAGE) {
            tree.put("message", Text.truncate(event.message(), LONGEST_MESSAGE));
        }
        int metadata = event.metadata().entrySet().stream()
                .filter(entry -> !Reporter.isReserved(entry.getKey()))
                .mapToInt(entry -> entry.getKey().length() + entry.getValue().length())
                .sum();
        if (metadata > MOST_METADATA) {
            tree.remove("metadata");
        }
        tree.values()
                .removeIf(value -> value.equals("")
                        || value.equals(false)
                        || value.equals(0L)
                        || value.equals(List.of())
                        || value instanceof Map<?, ?> map
                                && (map.isEmpty() || map.values().stream().allMatch(Boolean.FALSE::equals)));
        return tree;
    }

    /**
     * Returns the keys of the faults that the events in the text raise. Accepts a single event outside a list too, and names
     * with a capital first letter, as old versions wrote them.
     *
     * @throws IOException if the text has another format
     */
    static Set<FaultKey> read(String text) throws IOException {
        Set<FaultKey> keys = new LinkedHashSet<>();
        events(text).forEach(event -> keys.addAll(event.keys()));
        return keys;
    }

    /** Returns the events in the text, with their recommended actions and overrides. Accepts and throws like {@link #read}. */
    static List<HealthEvent> events(String text) throws IOException {
        List<HealthEvent> events = new ArrayList<>();
        Object tree = Json.read(text);
        for (Object item : tree instanceof List<?> list ? list : List.of(tree)) {
            if (!(item instanceof Map<?, ?> map)) {
                throw new IOException("expected health events, found " + Json.write(item));
            }
            events.add(event(lower(map)));
        }
        return events;
    }

    private static HealthEvent event(Map<String, Object> tree) throws IOException {
        if (JsonTrees.text(tree, "checkName").isEmpty()) {
            throw new IOException("expected health events, found one without checkName");
        }
        List<Entity> entities = new ArrayList<>();
        for (Map<String, Object> entity : JsonTrees.objects(tree, "entitiesImpacted")) {
            Map<String, Object> fields = lower(entity);
            entities.add(new Entity(JsonTrees.text(fields, "entityType"), JsonTrees.text(fields, "entityValue")));
        }
        List<String> codes = tree.get("errorCode") instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
        return HealthEvent.of(
                        JsonTrees.text(tree, "agent"),
                        JsonTrees.text(tree, "componentClass"),
                        JsonTrees.text(tree, "checkName"))
                .nodeName(Identifiers.node(JsonTrees.text(tree, "nodeName")))
                .entities(entities)
                .errorCodes(codes)
                .message(JsonTrees.text(tree, "message"))
                .fatal(JsonTrees.isTrue(tree, "isFatal"))
                .action(action(tree))
                .drain(drain(JsonTrees.object(tree, "drainOverrides")))
                .build();
    }

    private static RecommendedAction action(Map<String, Object> tree) {
        return tree.get("recommendedAction") instanceof String name
                ? Stream.of(RecommendedAction.values())
                        .filter(action -> action.name().equals(name))
                        .findFirst()
                        .orElse(RecommendedAction.UNKNOWN)
                : RecommendedAction.of(JsonTrees.number(tree, "recommendedAction"));
    }

    private static Overrides drain(Map<String, Object> tree) {
        return new Overrides(JsonTrees.isTrue(tree, "force"), JsonTrees.isTrue(tree, "skip"));
    }

    /** Returns a copy in which each name begins with a small letter. */
    static Map<String, Object> lower(Map<?, ?> map) {
        Map<String, Object> lower = new LinkedHashMap<>();
        map.forEach((key, value) -> {
            String name = String.valueOf(key);
            lower.put(name.isEmpty() ? name : name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1), value);
        });
        return lower;
    }
}
