package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * An attempt to repair a node, as the Node records it.
 *
 * @param resource name of its resource
 * @param action name of the recommended action of the fault
 * @param fault identity of the fault
 * @param why faults, and the reason of an escalation, for operators
 * @param subjects GPUs, or names of checks, for whose faults it was made
 * @param at time of the decision
 * @param result empty until the resource has ended
 * @param approver user who approved it; empty if unknown, and without an approval or before it. No part of {@code why}, which has texts of the node
 */
record Repair(
        String resource,
        RepairGroup group,
        String action,
        String fault,
        String why,
        Set<String> subjects,
        Instant at,
        Optional<Result> result,
        String approver) {

    enum Outcome {
        SUCCEEDED,
        FAILED,
        /** The resource is gone, and had not ended. */
        DELETED,
        /** It ended before anything was tried on hardware, for a reason that an operator must end. */
        REFUSED,
        /** It ended before anything was tried on hardware, for a reason that ends by itself: it is decided again. */
        POSTPONED,
        /** It might no longer begin before its resource was made, so nothing was done. */
        WITHDRAWN
    }

    /** The longest reason of an attempt. All annotations of a Node may have 256 KiB together. */
    private static final int LONGEST_WHY = 512;

    /** The longest text of a result, which other programs may have written. */
    private static final int LONGEST_RESULT = 1024;

    /** @param at time of the end */
    record Result(Outcome outcome, Instant at, String why) {
        Result {
            why = bounded(why, LONGEST_RESULT);
        }
    }

    Repair {
        why = bounded(why, LONGEST_WHY);
        subjects = Identifiers.gpus(subjects);
    }

    /** Returns a text of at most three bytes for each char in JSON: a control character would have six. */
    private static String bounded(String text, int most) {
        return Text.truncate(text, most).replaceAll("\\p{Cntrl}", " ");
    }

    /** @param who user; empty if unknown */
    Repair approvedBy(String who) {
        String by = Text.truncate(who, LONGEST_WHY / 4);
        String and = by.isEmpty() ? "" : ", approved by " + by;
        return new Repair(
                resource,
                group,
                action,
                fault,
                Text.truncate(why, LONGEST_WHY - and.length()) + and,
                subjects,
                at,
                result,
                by);
    }

    Repair ended(Result how) {
        return new Repair(resource, group, action, fault, why, subjects, at, Optional.of(how), approver);
    }

    /** Returns the attempt without its result. */
    Repair reopened() {
        return new Repair(resource, group, action, fault, why, subjects, at, Optional.empty(), approver);
    }

    boolean inProgress() {
        return result.isEmpty();
    }

    /** Returns true if the attempt was withdrawn, and so proves nothing. */
    boolean withdrawn() {
        return result.filter(how -> how.outcome() == Outcome.WITHDRAWN).isPresent();
    }

    /** Returns true if the attempt ended before anything was tried, and is decided again. */
    boolean postponed() {
        return result.filter(how -> how.outcome() == Outcome.POSTPONED).isPresent();
    }

    /** Returns true if nothing was tried, so that the attempt is no step towards another action. */
    private boolean untried() {
        return withdrawn()
                || postponed()
                || result.filter(how -> how.outcome() == Outcome.REFUSED).isPresent();
    }

    /** Returns true if the attempt was made for a subject of the request. */
    boolean isFor(Demand demand) {
        return demand.subjects().stream().anyMatch(subjects::contains);
    }

    /** Returns true if the attempt was tried, is of the group, and was made for the subject within the time before now. */
    boolean counts(RepairGroup other, String subject, Duration within, Instant now) {
        return !untried() && group.equals(other) && subjects.contains(subject) && at.isAfter(now.minus(within));
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("resource", resource);
        tree.put("kind", group.kind().resources().kind());
        if (group.kind() instanceof TemplateKind template) {
            tree.put("template", template.tree());
        }
        if (!group.gpus().isEmpty()) {
            tree.put("gpus", List.copyOf(group.gpus()));
        }
        tree.put("action", action);
        tree.put("fault", fault);
        tree.put("for", why);
        tree.put("subjects", List.copyOf(subjects));
        tree.put("at", at.toString());
        if (!approver.isEmpty()) {
            tree.put("approvedBy", approver);
        }
        result.ifPresent(how -> {
            tree.put("result", how.outcome().name().toLowerCase(Locale.ROOT));
            tree.put("ended", how.at().toString());
            if (!how.why().isEmpty()) {
                tree.put("why", how.why());
            }
        });
        return tree;
    }

    /** @throws IOException if the tree has another form; also {@link java.time.DateTimeException} for a wrong time */
    static Repair read(Map<String, Object> tree) throws IOException {
        String result = JsonTrees.text(tree, "result");
        return new Repair(
                JsonTrees.text(tree, "resource"),
                new RepairGroup(kind(tree), new TreeSet<>(JsonTrees.textList(tree, "gpus"))),
                JsonTrees.text(tree, "action"),
                JsonTrees.text(tree, "fault"),
                JsonTrees.text(tree, "for"),
                Set.copyOf(JsonTrees.textList(tree, "subjects")),
                Instant.parse(JsonTrees.text(tree, "at")),
                result.isEmpty()
                        ? Optional.empty()
                        : Optional.of(new Result(
                                outcome(result),
                                Instant.parse(JsonTrees.text(tree, "ended")),
                                JsonTrees.text(tree, "why"))),
                JsonTrees.text(tree, "approvedBy"));
    }

    private static RepairKind kind(Map<String, Object> tree) throws IOException {
        String kind = JsonTrees.text(tree, "kind");
        Map<String, Object> template = JsonTrees.object(tree, "template");
        if (!template.isEmpty()) {
            return TemplateKind.read(kind, template);
        }
        return Stream.of(MaintenanceKind.values())
                .filter(each -> each.resources().kind().equals(kind))
                .findFirst()
                .orElseThrow(() -> new IOException("expected the kind of a repair, found \"" + kind + "\""));
    }

    private static Outcome outcome(String name) throws IOException {
        for (Outcome each : Outcome.values()) {
            if (each.name().toLowerCase(Locale.ROOT).equals(name)) {
                return each;
            }
        }
        throw new IOException("expected the result of a repair, found \"" + name + "\"");
    }
}
