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
 * A node's faults in few lines: each part that has a fatal one once, then others. Pure.
 *
 * @param lines at most {@value #MOST_PARTS}; empty without faults
 * @param moreParts with fatal faults that have no line
 * @param moreFaults without a line, those of the parts above included; what one event raised is one
 */
public record FaultSummary(List<Line> lines, int moreParts, int moreFaults) {

    /** As many as a person can act on before the next look. */
    static final int MOST_PARTS = 4;

    /** What people call the node where a fault names no part of it. */
    private static final String NODE = "node";

    /**
     * The worst fault of a part, or one that is not fatal.
     *
     * @param part "GPU 3 (0000:5b:00.0)"; "node" where the fault names none
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
     * The fatal ones first, otherwise in the order of the faults.
     *
     * @param names of the node's GPUs
     * @param least so many lines, if fewer parts have fatal faults, and there are so many faults
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
        long said = lines.stream().map(Line::cause).distinct().count();
        return new FaultSummary(
                List.copyOf(lines), Math.max(0, fatal.size() - MOST_PARTS), (int) (raised.size() - said));
    }

    /** What one event raised together, in the order of the faults. */
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

    /** The parts that an event names, each once: GPUs alone where it names some. */
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

    /** The parts that an event names, in words. */
    public static String part(List<Fault> raised, PartNames names) {
        return String.join(", ", parts(raised, names));
    }
}
