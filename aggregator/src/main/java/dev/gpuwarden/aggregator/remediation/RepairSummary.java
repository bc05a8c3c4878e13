package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.api.kube.DriverUpgrade;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.node.ReportedGpus;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The repair of a node in quarantine for display, from the Node's annotations and its faults. Pure.
 *
 * @param text progress of the repair, or the requested action if none has begun
 * @param next next action or event; empty if none is needed
 * @param tree stage and repairs of this quarantine and of earlier ones, in the format of the annotation
 */
public record RepairSummary(String text, String next, Map<String, Object> tree) {

    /** The stage of a repair that no program carries out. */
    private static final String WAITS = "waits-for-you";

    /** Returns the repair; empty if the node has none and its faults request none, or if it cannot be read. */
    public static Optional<RepairSummary> of(
            CachedNode node, List<Fault> faults, Collection<FaultKey> holding, ReportedGpus there) {
        RepairRecord record;
        try {
            record = RepairAnnotations.of(node);
        } catch (IOException e) {
            return Optional.empty();
        }
        Optional<Repair> last = record.inSession().reduce((a, b) -> b);
        if (record.next().isPresent()) {
            Repair next = record.next().get();
            return summary(
                    record, "approval", next.group().what() + " for " + next.why(), "gpuwarden approve " + node.name());
        }
        if (record.person().isPresent()) {
            String since = ", since " + record.person().get().since();
            return summary(record, "person", record.person().get().task() + since, "an operator must act");
        }
        if (record.drain().isPresent()
                && last.filter(Repair::inProgress).isEmpty()
                && last.map(Repair::group).filter(RepairGroup::restarts).isEmpty()) {
            return summary(record, "drain", record.drain().get(), "the repair begins when all pods have left");
        }
        if (last.isPresent()) {
            return last.get().result().isPresent()
                    ? summary(
                            record,
                            "ended",
                            RepairEvents.ended(last.get(), last.get().result().get()) + " at "
                                    + last.get().result().get().at(),
                            "the node returns when it reports that its faults are over")
                    : summary(record, "act", RepairEvents.started(last.get()), "the resource ends");
        }
        List<Demand> demands = Demand.of(faults, holding, RepairTemplates.NONE, there);
        String requested = demands.stream()
                .map(demand -> demand.group()
                        .map(group -> group.what() + " for " + demand.name())
                        .orElse(demand.person().isEmpty() ? "" : demand.name() + ": " + demand.person()))
                .filter(text -> !text.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
        return requested.isEmpty()
                ? Optional.empty()
                : summary(
                        record,
                        "requested",
                        requested,
                        DriverUpgrade.underWay(node.labels())
                                .map(text -> "waits: " + text)
                                .orElse(""));
    }

    /** Returns whether the faults request a repair, and none has begun. */
    public boolean requested() {
        return "requested".equals(tree.get("stage"));
    }

    /** Returns whether an operator must carry out the repair, because no program does. */
    public boolean isOperators() {
        return WAITS.equals(tree.get("stage"));
    }

    /** Returns the same repair, which an operator must carry out. */
    public RepairSummary waitsForOperator(String step) {
        Map<String, Object> changed = new LinkedHashMap<>(tree);
        changed.put("stage", WAITS);
        changed.put("next", step);
        return new RepairSummary("waits for you: " + text, step, changed);
    }

    private static Optional<RepairSummary> summary(RepairRecord record, String stage, String text, String next) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("stage", stage);
        tree.put("text", text);
        tree.put("next", next);
        tree.put("since", record.person().map(person -> person.since().toString()));
        tree.put("repairs", record.inSession().map(Repair::tree).toList());
        tree.put(
                "earlier",
                record.history().stream()
                        .filter(repair -> !record.session().contains(repair.resource()))
                        .map(Repair::tree)
                        .toList());
        return Optional.of(new RepairSummary(text, next, tree));
    }
}
