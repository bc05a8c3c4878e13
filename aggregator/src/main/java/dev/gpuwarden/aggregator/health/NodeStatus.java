package dev.gpuwarden.aggregator.health;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The status of a `NodeHealth`, as server-side apply wants it. Pure: the same report gives the same text. */
final class NodeStatus {

    /** Every watcher gets every change; 256 of the longest are a third of what etcd takes. */
    static final int MOST_FAULTS = 256;

    static final int LONGEST_MESSAGE = 512;
    /** As the schema has it, in characters; api's EventRules allow no more bytes. */
    static final int LONGEST_NAME = 256;

    /** What may stop work first, then what an operator can act on, then the oldest; the rest makes the order total. */
    static final Comparator<Fault> WORST_FIRST = Comparator.<Fault, Boolean>comparing(fault -> !actedOn(fault))
            .thenComparing(fault -> !fault.cause().fatal())
            .thenComparing(Fault::since)
            .thenComparing(fault -> fault.key().toString());

    private NodeStatus() {}

    static Map<String, Object> tree(NodeState report) {
        List<Fault> faults =
                report.faults().stream().sorted(WORST_FIRST).limit(MOST_FAULTS).toList();
        List<Fault> acted = report.faults().stream().filter(NodeStatus::actedOn).toList();
        long fatal = acted.stream().filter(fault -> fault.cause().fatal()).count();
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("state", fatal > 0 ? "Faulty" : acted.isEmpty() ? "Healthy" : "Degraded");
        status.put("faultCount", report.faults().size());
        status.put("fatalCount", fatal);
        status.put("unlistedCount", report.faults().size() - faults.size());
        if (!acted.isEmpty()) {
            status.put("worst", worst(faults.get(0)));
        }
        status.put("faults", faults.stream().map(NodeStatus::fault).toList());
        put(status, "bootID", report.bootId());
        put(status, "version", report.version());
        status.put("reported", second(report.reported()));
        status.put("generation", report.generation());
        status.put("acknowledgedSequence", report.sequence());
        status.put("droppedEvents", report.droppedEvents());
        return status;
    }

    /** What is told for statistics alone makes no node unfit. */
    private static boolean actedOn(Fault fault) {
        return fault.cause().strategy().actedOn();
    }

    private static Map<String, Object> worst(Fault fault) {
        Map<String, Object> tree = new LinkedHashMap<>();
        List<String> name = new ArrayList<>(List.of(fault.key().checkName()));
        if (!fault.key().errorCode().isEmpty()) {
            name.add(fault.key().errorCode());
        }
        if (!fault.key().entity().equals(Entity.WHOLE)) {
            name.add(fault.key().entity().type() + ":" + fault.key().entity().value());
        }
        tree.put("summary", cut(String.join(" ", name), LONGEST_MESSAGE));
        tree.put("recommendedAction", action(fault.cause()));
        tree.put("since", second(fault.since()));
        return tree;
    }

    private static String action(HealthEvent cause) {
        return cause.customAction().isEmpty() ? cause.action().name() : cut(cause.customAction(), LONGEST_NAME);
    }

    private static Map<String, Object> fault(Fault fault) {
        HealthEvent cause = fault.cause();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("agent", cut(fault.key().agent(), LONGEST_NAME));
        tree.put("componentClass", cut(fault.key().componentClass(), LONGEST_NAME));
        tree.put("checkName", cut(fault.key().checkName(), LONGEST_NAME));
        if (!fault.key().entity().equals(Entity.WHOLE)) {
            tree.put("entityType", cut(fault.key().entity().type(), LONGEST_NAME));
            tree.put("entityValue", cut(fault.key().entity().value(), LONGEST_NAME));
        }
        put(tree, "errorCode", cut(fault.key().errorCode(), LONGEST_NAME));
        tree.put("fatal", cause.fatal());
        tree.put("recommendedAction", cause.action().name());
        put(tree, "customAction", cut(cause.customAction(), LONGEST_NAME));
        tree.put("processingStrategy", cause.strategy().name());
        put(tree, "quarantineOverride", override(cause.quarantine()));
        put(tree, "drainOverride", override(cause.drain()));
        put(tree, "message", cut(cause.message(), LONGEST_MESSAGE));
        put(tree, "eventID", cut(cause.id(), LONGEST_NAME));
        tree.put("sequence", fault.sequence());
        tree.put("since", second(fault.since()));
        tree.put("lastSeen", second(fault.lastSeen()));
        tree.put("occurrences", fault.occurrences());
        return tree;
    }

    private static String override(Overrides overrides) {
        return overrides.skip() ? "Skip" : overrides.force() ? "Force" : "";
    }

    private static void put(Map<String, Object> tree, String key, String text) {
        if (!text.isEmpty()) {
            tree.put(key, text);
        }
    }

    /** Of strangers, and printed by kubectl as it is: nothing that a terminal would act on. */
    private static String cut(String given, int most) {
        String text = given.replaceAll("[\\p{Cntrl}\\p{Cf}\\u2028\\u2029]", " ");
        if (text.length() <= most) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 2)) ? most - 2 : most - 1) + "…";
    }

    private static String second(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
