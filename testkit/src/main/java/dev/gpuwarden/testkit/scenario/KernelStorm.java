package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Many lines of the kernel log: the texts in turn.
 *
 * @param texts with {@link LineText}'s names for what differs from node to node and from line to line
 * @param xids codes by GPU: each stands for the line that the driver writes for it
 */
public record KernelStorm(List<String> texts, Map<Integer, List<Integer>> xids, int count, int perSecond) {

    private static final int MAX_COUNT = 10_000_000;
    private static final int MAX_PER_SECOND = 1_000_000;
    private static final int DEFAULT_PER_SECOND = 1000;
    private static final int MAX_XID = 999;

    /** Reads a storm, several, or `end`. */
    static List<Change> read(YamlNode node, int gpuCount) {
        return node.is("end")
                ? List.of(new Change.EndStorms())
                : node.oneOrMore().stream()
                        .<Change>map(item -> new Change.Storm(one(item, gpuCount)))
                        .toList();
    }

    private static KernelStorm one(YamlNode node, int gpuCount) {
        Fields f = node.fields("line", "xid", "count", "per-second");
        List<String> texts = f.read("line", List.of(), line -> LineText.read(line, gpuCount));
        Map<Integer, List<Integer>> xids = f.read("xid", Map.of(), xid -> xids(xid, gpuCount));
        if (texts.isEmpty() && xids.isEmpty()) {
            throw node.problem("line or xid");
        }
        return new KernelStorm(
                texts,
                xids,
                f.require("count").integer(1, MAX_COUNT),
                f.integer("per-second", DEFAULT_PER_SECOND, 1, MAX_PER_SECOND));
    }

    private static Map<Integer, List<Integer>> xids(YamlNode node, int gpuCount) {
        Map<Integer, List<Integer>> xids = new LinkedHashMap<>();
        for (YamlNode.Entry entry : node.entries()) {
            if (!entry.name().matches("\\d{1,2}") || Integer.parseInt(entry.name()) >= gpuCount) {
                throw entry.key().problem("a GPU below " + gpuCount);
            }
            List<Integer> codes = entry.value().oneOrMore().stream()
                    .map(code -> code.integer(0, MAX_XID))
                    .toList();
            xids.put(Integer.parseInt(entry.name()), codes);
        }
        return xids;
    }
}
