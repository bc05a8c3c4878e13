package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.Cause;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.RepairSummary;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A node and its faults as a JSON tree and as short text. */
public final class NodeJson {

    private NodeJson() {}

    public static Map<String, Object> tree(NodeAssessment node) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", node.name());
        tree.put("state", node.state().label());
        tree.put("since", node.since().map(Instant::toString));
        tree.put("unschedulable", node.unschedulable());
        tree.put("cause", node.cause().map(Cause::label));
        tree.put("why", node.why());
        tree.put("next", node.next());
        tree.put("rules", node.inspection().map(QuarantineSummary::rules).orElse(List.of()));
        tree.put("reported", node.reported().map(Instant::toString));
        tree.put("drain", node.drain().map(DrainAnnotation::tree));
        tree.put("repair", node.repair().map(RepairSummary::tree));
        FaultSummary summary = node.summary();
        tree.put("worst", summary.lines().stream().map(line -> tree(line, node)).toList());
        tree.put("moreFatalParts", summary.moreParts());
        tree.put("moreFaults", summary.moreFaults());
        tree.put(
                "faults",
                FaultSummary.raised(node.faults()).stream()
                        .map(raised -> tree(raised, node))
                        .toList());
        return tree;
    }

    private static Map<String, Object> tree(FaultSummary.Line line, NodeAssessment node) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("part", line.part());
        tree.put("text", line.text());
        tree.put("fatal", line.cause().fatal());
        tree.put("action", ActionText.name(line.cause()));
        tree.put("advice", node.names().adviceOn(node.name(), line.cause()));
        tree.put("event", line.cause().id());
        return tree;
    }

    private static Map<String, Object> tree(List<Fault> raised, NodeAssessment node) {
        Fault first = raised.get(0);
        HealthEvent cause = first.cause();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", cause.checkName());
        tree.put("agent", cause.agent());
        Reporter.nameOf(cause).ifPresent(name -> tree.put("reportedBy", name));
        tree.put("component", cause.componentClass());
        tree.put("codes", FaultSummary.codes(raised));
        tree.put(
                "entities",
                FaultSummary.entities(raised).stream().map(NodeJson::tree).toList());
        tree.put("subject", parts(raised, node.names()));
        tree.put("fatal", cause.fatal());
        tree.put("message", cause.message());
        tree.put("action", ActionText.name(cause));
        tree.put("advice", node.names().adviceOn(node.name(), cause));
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

    /** Returns for example `GPU 2 (0000:44:00.0)`; without a known name the event's own, `PCI 0000:3b:00, GPU_UUID GPU-1`. */
    public static String parts(List<Fault> raised, PartNames names) {
        List<Entity> entities = FaultSummary.entities(raised);
        return entities.isEmpty()
                        || entities.stream()
                                .anyMatch(entity -> names.gpu(entity).isPresent())
                ? names.of(entities)
                : entities.stream()
                        .map(entity -> entity.type() + " " + entity.value())
                        .collect(Collectors.joining(", "));
    }
}
