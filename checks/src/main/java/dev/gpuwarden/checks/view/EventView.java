package dev.gpuwarden.checks.view;

import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The JSON form of an event. */
public final class EventView {

    private EventView() {}

    public static Map<String, Object> tree(StoredEvent stored) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("id", stored.event().id());
        tree.put("sequence", stored.sequence());
        tree.put("received", stored.received().toString());
        tree.put("lastSeen", stored.lastSeen().toString());
        tree.put("occurrences", stored.occurrences());
        tree.putAll(tree(stored.event()));
        return tree;
    }

    private static Map<String, Object> tree(HealthEvent event) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("generated", event.generated().toString());
        tree.put("node", event.nodeName());
        tree.put("agent", event.agent());
        Reporter.nameOf(event).ifPresent(name -> tree.put("reportedBy", name));
        tree.put("component", event.componentClass());
        tree.put("check", event.checkName());
        tree.put("healthy", event.healthy());
        tree.put("fatal", event.fatal());
        tree.put("codes", event.errorCodes());
        tree.put("entities", entities(event.entities()));
        tree.put("message", event.message());
        tree.put("action", ActionText.name(event));
        tree.put("advice", event.healthy() ? "" : ActionText.advice(event));
        tree.put("strategy", event.strategy().name().toLowerCase(java.util.Locale.ROOT));
        tree.put("metadata", event.metadata());
        return tree;
    }

    /** Returns the parts that an event or a finding is about, in order; empty for the node itself. */
    public static List<Map<String, Object>> entities(List<Entity> entities) {
        return entities.stream().map(EventView::tree).toList();
    }

    private static Map<String, Object> tree(Entity entity) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("type", entity.type());
        tree.put("value", entity.value());
        return tree;
    }
}
