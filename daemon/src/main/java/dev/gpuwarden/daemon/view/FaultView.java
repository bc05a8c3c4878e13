package dev.gpuwarden.daemon.view;

import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The JSON form of current faults: one entry for each event, though a GPU has two names and an event may have many codes. */
public final class FaultView {

    private FaultView() {}

    /**
     * Returns the entries: fatal faults that may be acted on first, then other fatal ones, then the newest.
     *
     * @param names the display names of the node's parts
     * @param damping the states of the faults between sound and faulty; empty if they are not known
     */
    public static List<Map<String, Object>> trees(Collection<Fault> faults, PartNames names, List<Damping> damping) {
        return faults.stream()
                .collect(Collectors.groupingBy(Fault::cause, LinkedHashMap::new, Collectors.toList()))
                .values()
                .stream()
                .sorted(Comparator.comparing(
                                (List<Fault> group) -> !condemns(group.get(0).cause()))
                        .thenComparing(group -> !group.get(0).cause().fatal())
                        .thenComparing(group -> group.get(0).since(), Comparator.reverseOrder()))
                .map(group -> tree(group, names, damping))
                .toList();
    }

    private static boolean condemns(HealthEvent cause) {
        return cause.fatal() && cause.strategy().actedOn();
    }

    private static Map<String, Object> tree(List<Fault> group, PartNames names, List<Damping> damping) {
        Fault first = group.get(0);
        HealthEvent cause = first.cause();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("event", cause.id());
        tree.put("agent", cause.agent());
        Reporter.nameOf(cause).ifPresent(name -> tree.put("reportedBy", name));
        tree.put("component", cause.componentClass());
        tree.put("check", cause.checkName());
        tree.put(
                "codes",
                group.stream()
                        .map(f -> f.key().errorCode())
                        .filter(c -> !c.isEmpty())
                        .distinct()
                        .toList());
        List<Entity> entities = group.stream()
                .map(fault -> fault.key().entity())
                .filter(entity -> !entity.equals(Entity.WHOLE))
                .distinct()
                .toList();
        tree.put("entities", EventView.entities(entities));
        tree.put("subject", names.of(entities));
        tree.put("fatal", cause.fatal());
        tree.put("strategy", cause.strategy().name().toLowerCase(Locale.ROOT));
        tree.put("message", cause.message());
        tree.put("action", ActionText.name(cause));
        tree.put("advice", names.advice(cause));
        tree.put("since", first.since().toString());
        tree.put("lastSeen", latest(group).toString());
        tree.put(
                "occurrences",
                group.stream().mapToLong(Fault::occurrences).max().orElse(0));
        Damping.of(first, damping).ifPresent(state -> tree.put("damping", CheckView.tree(state)));
        return tree;
    }

    private static Instant latest(List<Fault> group) {
        return group.stream()
                .map(Fault::lastSeen)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }
}
