package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** How a node and its faults look as data, and in few words. */
public final class NodeJson {

    private NodeJson() {}

    public static Map<String, Object> tree(NodeAssessment look) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", look.name());
        tree.put("state", look.state().label());
        tree.put("since", look.since().map(Instant::toString));
        tree.put("unschedulable", look.unschedulable());
        tree.put("cause", look.cause().map(Cause::label));
        tree.put("why", look.why());
        tree.put("next", look.next());
        tree.put("rules", look.inspection().map(QuarantineSummary::rules).orElse(List.of()));
        tree.put("reported", look.reported().map(Instant::toString));
        tree.put("drain", look.drain().map(DrainAnnotation::tree));
        tree.put("faults", raised(look.faults()).stream().map(NodeJson::tree).toList());
        return tree;
    }

    /** What one event raised together, in the order of the faults. */
    public static List<List<Fault>> raised(List<Fault> faults) {
        return List.copyOf(faults.stream()
                .collect(Collectors.groupingBy(Fault::cause, LinkedHashMap::new, Collectors.toList()))
                .values());
    }

    private static Map<String, Object> tree(List<Fault> raised) {
        Fault first = raised.get(0);
        HealthEvent cause = first.cause();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", cause.checkName());
        tree.put("agent", cause.agent());
        tree.put("component", cause.componentClass());
        tree.put("codes", codes(raised));
        tree.put("entities", entities(raised).stream().map(NodeJson::tree).toList());
        tree.put("fatal", cause.fatal());
        tree.put("message", cause.message());
        tree.put("action", ActionText.name(cause));
        tree.put("advice", ActionText.advice(cause));
        tree.put("since", first.since().toString());
        tree.put("lastSeen", first.lastSeen().toString());
        tree.put("occurrences", first.occurrences());
        tree.put("event", cause.id());
        return tree;
    }

    private static Map<String, Object> tree(Entity entity) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("type", entity.type());
        tree.put("value", entity.value());
        return tree;
    }

    public static List<String> codes(List<Fault> raised) {
        return raised.stream()
                .map(fault -> fault.key().errorCode())
                .filter(code -> !code.isEmpty())
                .distinct()
                .toList();
    }

    private static List<Entity> entities(List<Fault> raised) {
        return raised.stream()
                .map(fault -> fault.key().entity())
                .filter(entity -> !entity.equals(Entity.WHOLE))
                .distinct()
                .toList();
    }

    /** `PCI 0000:3b:00, GPU_UUID GPU-1`. */
    public static String parts(List<Fault> raised) {
        return entities(raised).stream()
                .map(entity -> entity.type() + " " + entity.value())
                .collect(Collectors.joining(", "));
    }

    /** The fault to begin with, and how many more there are; empty without any. */
    public static Optional<String> worst(List<Fault> faults) {
        List<List<Fault>> raised = raised(faults);
        if (raised.isEmpty()) {
            return Optional.empty();
        }
        List<Fault> worst = raised.get(0);
        String codes = String.join(", ", codes(worst));
        String entity = entities(worst).stream().map(Entity::value).findFirst().orElse("");
        return Optional.of(String.join(" ", List.of(worst.get(0).cause().checkName(), codes, entity))
                        .strip()
                        .replace("  ", " ")
                + (raised.size() > 1 ? " +" + (raised.size() - 1) : ""));
    }
}
