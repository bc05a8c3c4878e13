package dev.gpuwarden.testkit.scenario;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads storms: which lines, how many, how fast. */
final class StormReader {

    private static final int MOST = 10_000_000;
    private static final int FASTEST = 1_000_000;
    private static final int MAX_XID = 999;

    private StormReader() {}

    /** A storm, several, or `end`. */
    static List<Change> read(Yaml yaml, String subject, int gpuCount) {
        if (yaml.isScalar() && yaml.text(subject).equals("end")) {
            return List.of(new Change.EndStorms());
        }
        return yaml.oneOrMore(subject).stream()
                .<Change>map(item -> new Change.Storm(storm(item, subject, gpuCount)))
                .toList();
    }

    private static KernelStorm storm(Yaml yaml, String subject, int gpuCount) {
        Fields f = new Fields(yaml, subject, "line", "xid", "count", "per-second");
        List<String> texts = f.map("line", y -> LineText.read(y, f.subject("line"), gpuCount))
                .orElse(List.of());
        Map<Integer, List<Integer>> xids =
                f.map("xid", y -> xids(y, f.subject("xid"), gpuCount)).orElse(Map.of());
        if (texts.isEmpty() && xids.isEmpty()) {
            throw yaml.problem(subject, "line or xid");
        }
        int count = Fields.number(f.require("count"), f.subject("count"), 1, MOST);
        return new KernelStorm(texts, xids, count, f.number("per-second", 1000, 1, FASTEST));
    }

    private static Map<Integer, List<Integer>> xids(Yaml yaml, String subject, int gpuCount) {
        Map<Integer, List<Integer>> xids = new LinkedHashMap<>();
        for (Yaml.Entry entry : yaml.entries(subject)) {
            if (!entry.key().matches("\\d{1,2}") || Integer.parseInt(entry.key()) >= gpuCount) {
                throw new Problem(entry.place(), subject, "a GPU below " + gpuCount, "\"" + entry.key() + "\"");
            }
            List<Integer> codes = entry.value().oneOrMore(subject).stream()
                    .map(code -> Fields.number(code, subject, 0, MAX_XID))
                    .toList();
            xids.put(Integer.parseInt(entry.key()), codes);
        }
        return xids;
    }
}
