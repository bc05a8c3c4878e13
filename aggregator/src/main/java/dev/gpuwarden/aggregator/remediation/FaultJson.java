package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The values of a template's placeholders for one attempt, with the fault as JSON for programs of the user. Pure. */
final class FaultJson {

    private static final int LONGEST_MESSAGE = 1024;
    private static final int LONGEST_TEXT = 128;
    private static final int MOST_ITEMS = 16;

    private FaultJson() {}

    /** @param demand request for which the attempt was made */
    static Map<String, Object> values(String node, String uid, Repair repair, Demand demand) {
        return Map.of(
                Placeholders.NODE, node,
                Placeholders.NODE_UID, uid,
                Placeholders.GPUS, gpus(repair, demand),
                Placeholders.ACTION, action(demand.cause()),
                Placeholders.RESOURCE, repair.resource(),
                Placeholders.FAULT, text(node, uid, repair, demand));
    }

    /** Returns the UUIDs of whole GPUs. Other names are of unknown programs, and are in the JSON alone. */
    private static List<String> gpus(Repair repair, Demand demand) {
        return (repair.group().gpus().isEmpty()
                        ? demand.subjects()
                        : repair.group().gpus())
                .stream().filter(RepairText::isGpu).limit(MOST_ITEMS).toList();
    }

    private static String action(HealthEvent cause) {
        return cause.customAction().isEmpty()
                ? cause.action().name()
                : RepairTemplate.CUSTOM + Text.truncate(cause.customAction(), LONGEST_TEXT);
    }

    /**
     * Returns the fault. A dollar sign is written as an escape of JSON, since the kubelet would replace {@code $(NAME)} in arguments and
     * variables of containers.
     */
    private static String text(String node, String uid, Repair repair, Demand demand) {
        HealthEvent cause = demand.cause();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("node", node);
        tree.put("nodeUid", uid);
        tree.put("resource", repair.resource());
        tree.put("action", action(cause));
        tree.put("agent", Text.truncate(cause.agent(), LONGEST_TEXT));
        tree.put("componentClass", Text.truncate(cause.componentClass(), LONGEST_TEXT));
        tree.put("checkName", Text.truncate(cause.checkName(), LONGEST_TEXT));
        tree.put("errorCodes", texts(cause.errorCodes()));
        tree.put("message", Text.truncate(cause.message(), LONGEST_MESSAGE));
        tree.put("gpus", gpus(repair, demand));
        tree.put(
                "entities",
                cause.entities().stream()
                        .limit(MOST_ITEMS)
                        .map(entity -> Map.of(
                                "type", Text.truncate(entity.type(), LONGEST_TEXT),
                                "value", Text.truncate(entity.value(), LONGEST_TEXT)))
                        .toList());
        tree.put("since", demand.since().toString());
        return Json.write(tree).replace("$", "\\u0024");
    }

    private static List<String> texts(List<String> all) {
        return all.stream()
                .limit(MOST_ITEMS)
                .map(text -> Text.truncate(text, LONGEST_TEXT))
                .toList();
    }
}
