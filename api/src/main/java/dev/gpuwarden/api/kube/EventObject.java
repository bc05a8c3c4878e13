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
 * An Event of Kubernetes, core/v1, that stands for one event of this node or for several that are alike. Its name follows from the
 * first of them, so that the same one told again is the same object.
 *
 * @param count how often it was told
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
    /** RFC 1123 names in Kubernetes end at 253 characters; 17 are for the number. */
    private static final int LONGEST_NODE = 230;

    /** More than so many at once are told by check, not by GPU and code. */
    static final int MOST_AT_ONCE = 10;

    private record Alike(String check, boolean healthy, boolean fatal, List<String> codes, List<?> entities) {}

    /** As few objects as say it all, in the order of the first of each. */
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

    /** NVSentinel's contract for what is not fatal is the check's name; for the rest, which it does not tell, Kubernetes' own. */
    private static String type(HealthEvent event) {
        if (event.healthy()) {
            return NORMAL;
        }
        return event.fatal() ? WARNING : FaultText.line(event.checkName(), LONGEST_REASON);
    }

    private static Instant second(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS);
    }

    /** Under which name an Event of this node with this number is known. */
    public static String name(String node, long sequence) {
        String cut =
                node.length() > LONGEST_NODE ? node.substring(0, LONGEST_NODE).replaceAll("[-.]+$", "") : node;
        return cut + "." + Long.toHexString(sequence);
    }

    /** @param component the name of the program that tells it */
    public Map<String, Object> body(String node, String component) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", "v1");
        body.put("kind", "Event");
        body.put("metadata", Map.of("name", name, "namespace", "default"));
        // The uid is the name by kubelet's habit, and `kubectl describe node` asks for it.
        body.put("involvedObject", Map.of("apiVersion", "v1", "kind", "Node", "name", node, "uid", node));
        body.put("type", type);
        body.put("reason", reason);
        body.put("source", Map.of("component", component, "host", node));
        body.put("reportingComponent", component);
        body.put("reportingInstance", node);
        body.put("firstTimestamp", first.toString());
        body.putAll(told());
        return body;
    }

    /** What changes when it is told again. */
    public Map<String, Object> told() {
        return Map.of("message", message, "count", count, "lastTimestamp", last.toString());
    }
}
