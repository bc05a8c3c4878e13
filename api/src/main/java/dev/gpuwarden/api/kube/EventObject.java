package dev.gpuwarden.api.kube;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Kubernetes Event, core/v1, for one event of this node or for several similar ones. Its name follows from the first
 * of them, so that a repetition changes the same object.
 *
 * @param count number of occurrences
 * @param several whether it stands for more than one event of this node
 */
public record EventObject(
        String name,
        String type,
        String reason,
        String message,
        long count,
        boolean several,
        Instant first,
        Instant last) {

    private static final String WARNING = "Warning";
    private static final String NORMAL = "Normal";
    private static final int LONGEST_MESSAGE = 1024;
    private static final int LONGEST_REASON = 128;
    /** Limit on the node's name in an Event's name: names end at 253 characters, and the number needs 17. */
    private static final int LONGEST_NODE = 230;

    /** Limit on separate Events: more events together are grouped by check, not by GPU and code. */
    static final int MOST_AT_ONCE = 10;

    private record Alike(String check, boolean healthy, boolean fatal, List<String> codes, List<?> entities) {}

    /** Returns as few objects as possible for all events, in the order of the first event of each. */
    public static List<EventObject> of(List<StoredEvent> events, String node) {
        Map<Alike, List<StoredEvent>> alike = group(events, true);
        if (alike.size() > MOST_AT_ONCE) {
            alike = group(events, false);
        }
        return alike.values().stream().map(group -> of(node, group)).toList();
    }

    private static Map<Alike, List<StoredEvent>> group(List<StoredEvent> events, boolean byEntity) {
        Map<Alike, List<StoredEvent>> groups = new LinkedHashMap<>();
        for (StoredEvent stored : events) {
            HealthEvent event = stored.event();
            Alike key = new Alike(
                    event.checkName(),
                    event.healthy(),
                    event.fatal(),
                    byEntity ? event.errorCodes() : List.of(),
                    byEntity ? event.entities() : List.of());
            groups.computeIfAbsent(key, any -> new ArrayList<>()).add(stored);
        }
        return groups;
    }

    private static EventObject of(String node, List<StoredEvent> alike) {
        StoredEvent last = alike.get(alike.size() - 1);
        HealthEvent event = last.event();
        String others = alike.size() == 1 ? "" : " (and " + (alike.size() - 1) + " like it, see `gpuwarden events`)";
        String text = FaultText.line(text(event), LONGEST_MESSAGE - others.length());
        return new EventObject(
                name(node, alike.get(0).sequence()),
                type(event),
                FaultText.line(Condition.reason(event.checkName(), event.healthy()), LONGEST_REASON),
                text + others,
                alike.stream().mapToLong(StoredEvent::occurrences).sum(),
                alike.size() > 1,
                second(alike.get(0).received()),
                second(last.lastSeen()));
    }

    private static String text(HealthEvent event) {
        return event.healthy()
                ? event.message().isEmpty() ? "No Health Failures" : event.message()
                : FaultText.of(event);
    }

    /** Returns the type: NVSentinel uses the check's name for what is not fatal, and the rest has Kubernetes' own types. */
    private static String type(HealthEvent event) {
        if (event.healthy()) {
            return NORMAL;
        }
        return event.fatal() ? WARNING : FaultText.line(event.checkName(), LONGEST_REASON);
    }

    private static Instant second(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS);
    }

    /** Returns the name of the Event for this node and number. */
    public static String name(String node, long sequence) {
        String cut =
                node.length() > LONGEST_NODE ? node.substring(0, LONGEST_NODE).replaceAll("[-.]+$", "") : node;
        return cut + "." + Long.toHexString(sequence);
    }

    /** Returns a warning with one occurrence. */
    public static EventObject warning(String name, String reason, String message, Instant now) {
        return new EventObject(name, WARNING, reason, message, 1, false, second(now), second(now));
    }

    /** @param component the reporting program */
    public Map<String, Object> body(String node, String component) {
        // By kubelet's convention the uid is the name, and `kubectl describe node` searches for it.
        return body(Map.of("apiVersion", "v1", "kind", "Node", "name", node, "uid", node), node, component);
    }

    /**
     * @param object reference to the object of the Event
     * @param host node of the Event; empty if it has none
     */
    public Map<String, Object> body(Map<String, String> object, String host, String component) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", "v1");
        body.put("kind", "Event");
        body.put("metadata", Map.of("name", name, "namespace", object.getOrDefault("namespace", "default")));
        body.put("involvedObject", object);
        body.put("type", type);
        body.put("reason", reason);
        body.put(
                "source",
                host.isEmpty() ? Map.of("component", component) : Map.of("component", component, "host", host));
        body.put("reportingComponent", component);
        body.put("reportingInstance", host);
        body.put("firstTimestamp", first.toString());
        body.putAll(told());
        return body;
    }

    /** Returns the fields that change with a repetition. */
    public Map<String, Object> told() {
        return Map.of("message", message, "count", count, "lastTimestamp", last.toString());
    }
}
