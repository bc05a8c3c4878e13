package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.core.event.ActionName;
import dev.gpuwarden.core.event.FaultFields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The values of a template's placeholders for one attempt, with the fault as JSON for programs of the user. Pure. */
final class FaultJson {

    private static final int MOST_GPUS = 16;

    private FaultJson() {}

    /** @param demand request for which the attempt was made */
    static Map<String, Object> values(String node, String uid, Repair repair, Demand demand) {
        return Map.of(
                Placeholders.NODE, node,
                Placeholders.NODE_UID, uid,
                Placeholders.GPUS, gpus(repair, demand),
                Placeholders.ACTION, ActionName.of(demand.cause()),
                Placeholders.RESOURCE, repair.resource(),
                Placeholders.FAULT, text(node, uid, repair, demand));
    }

    /** Returns the UUIDs of whole GPUs. Other names are of unknown programs, and are in the JSON alone. */
    private static List<String> gpus(Repair repair, Demand demand) {
        return (repair.group().gpus().isEmpty()
                        ? demand.subjects()
                        : repair.group().gpus())
                .stream().filter(RepairGroup::isGpu).limit(MOST_GPUS).toList();
    }

    /**
     * Returns the fault. A dollar sign is written as an escape of JSON, since the kubelet would replace {@code $(NAME)} in arguments and
     * variables of containers.
     */
    private static String text(String node, String uid, Repair repair, Demand demand) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("node", node);
        tree.put("nodeUid", uid);
        tree.put("resource", repair.resource());
        tree.put("gpus", gpus(repair, demand));
        tree.put("since", demand.since().toString());
        tree.putAll(FaultFields.of(demand.cause()));
        return Json.write(tree).replace("$", "\\u0024");
    }
}
