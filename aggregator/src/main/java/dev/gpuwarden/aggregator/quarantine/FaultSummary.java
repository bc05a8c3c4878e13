package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.PartNames;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A node's faults in few lines: first one line for each part with a fatal fault, then other faults. Pure.
 *
 * @param lines the lines, {@value #MOST_PARTS} at most; empty without faults
 * @param moreParts the number of parts with fatal faults that have no line
 * @param moreFaults the number of faults without a line, those of {@code moreParts} included; all faults of one event count
 *     once
 */
public record FaultSummary(List<Line> lines, int moreParts, int moreFaults) {

    /** The number of parts that an operator can act on before the next summary. */
    static final int MOST_PARTS = 4;

    /** The part name of a fault that names no part of the node. */
    private static final String NODE = "node";

    /**
     * The worst fault of a part, or one that is not fatal.
     *
     * @param part the name of the part, for example "GPU 3 (0000:5b:00.0)"; "node" if the fault names none
     * @param raised the faults that its event raised
     */
    public record Line(String part, List<Fault> raised) {

        public HealthEvent cause() {
            return raised.get(0).cause();
        }

        /** `SysLogsXIDError 79 on GPU 3 (0000:5b:00.0)`. */
        public String text() {
            List<String> words = new ArrayList<>(List.of(cause().checkName()));
            words.addAll(List.of(String.join(", ", codes(raised)), part.equals(NODE) ? "" : "on " + part));
            return words.stream().filter(word -> !word.isEmpty()).collect(Collectors.joining(" "));
        }
    }

    /**
     * Returns the summary. Fatal faults come first; otherwise the order of the faults holds.
     *
     * @param names the names of the node's GPUs
     * @param least the smallest number of lines, if there are so many faults; other faults fill lines up to it
     */
    public static FaultSummary of(List<Fault> faults, PartNames names, int least) {
        List<List<Fault>> raised = raised(faults).stream()
                .sorted(Comparator.comparing(each -> !each.get(0).cause().fatal()))
                .toList();
        Map<String, Line> fatal = new LinkedHashMap<>();
        List<Line> others = new ArrayList<>();
        for (List<Fault> each : raised) {
            if (each.get(0).cause().fatal()) {
                parts(each, names).forEach(part -> fatal.putIfAbsent(part, new Line(part, each)));
            } else if (fatal.size() + others.size() < least) {
                others.add(new Line(String.join(", ", parts(each, names)), each));
            }
        }
        List<Line> lines =
                new ArrayList<>(fatal.values().stream().limit(MOST_PARTS).toList());
        lines.addAll(others);
        long shown = lines.stream().map(Line::cause).distinct().count();
        return new FaultSummary(
                List.copyOf(lines), Math.max(0, fatal.size() - MOST_PARTS), (int) (raised.size() - shown));
    }

    /** Returns the faults in groups, one for each event, in the order of the faults. */
    public static List<List<Fault>> raised(List<Fault> faults) {
        return List.copyOf(faults.stream()
                .collect(Collectors.groupingBy(Fault::cause, LinkedHashMap::new, Collectors.toList()))
                .values());
    }

    public static List<String> codes(List<Fault> raised) {
        return raised.stream()
                .map(fault -> fault.key().errorCode())
                .filter(code -> !code.isEmpty())
                .distinct()
                .toList();
    }

    public static List<Entity> entities(List<Fault> raised) {
        return raised.stream()
                .map(fault -> fault.key().entity())
                .filter(entity -> !entity.equals(Entity.WHOLE))
                .distinct()
                .toList();
    }

    /** Returns the parts that an event names, each once. If it names GPUs, these alone are returned. */
    static List<String> parts(List<Fault> raised, PartNames names) {
        List<Entity> entities = entities(raised);
        List<String> known = entities.stream()
                .flatMap(entity -> names.gpu(entity).stream())
                .map(PartNames.Gpu::label)
                .distinct()
                .toList();
        if (!known.isEmpty()) {
            return known;
        }
        List<Entity> gpu = entities.stream().filter(Entity::namesGpu).limit(1).toList();
        List<String> called = (gpu.isEmpty() ? entities : gpu)
                .stream().map(entity -> entity.type() + " " + entity.value()).toList();
        return called.isEmpty() ? List.of(NODE) : called;
    }

    /** Returns the parts that an event names, as one text. */
    public static String part(List<Fault> raised, PartNames names) {
        return String.join(", ", parts(raised, names));
    }
}
