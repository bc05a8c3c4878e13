package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.util.Text;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;

/** What a person reads on the Node. The same faults and rules give the same text. */
public final class Explanation {

    /** Lines of faults, if there are so many, though fewer parts have fatal ones. */
    private static final int LEAST_FAULTS = 3;

    private static final int LONGEST_MESSAGE = 200;
    /** Of one text: an Event of Kubernetes takes 1024 characters of it. */
    private static final int LONGEST_MESSAGES = 480;

    private Explanation() {}

    static String of(QuarantineReasons held, DesiredTaintsAndLabels effects, PartNames names) {
        FaultSummary summary = FaultSummary.of(held.faults(), names, LEAST_FAULTS);
        int room = LONGEST_MESSAGES / Math.max(1, summary.lines().size());
        return summary.lines().stream().map(line -> of(line, room)).collect(Collectors.joining("; "))
                + more(summary)
                + ". "
                + (held.met().isEmpty() ? "" : "Rules: " + String.join(", ", names(held.met())) + ". ")
                + (effects.inTheWay().isEmpty()
                        ? ""
                        : "Left out, since others have these with another value: "
                                + effects.inTheWay().stream()
                                        .map(Object::toString)
                                        .collect(Collectors.joining(", "))
                                + ". ")
                + "Returns to service when none of this is left.";
    }

    /** Each event that raised some of the faults once. */
    static List<String> each(List<Fault> faults, PartNames names) {
        return FaultSummary.raised(faults).stream()
                .map(raised -> of(new FaultSummary.Line(FaultSummary.part(raised, names), raised), LONGEST_MESSAGE))
                .toList();
    }

    /** The worst in few words, each part with a fatal fault once. */
    public static String named(List<Fault> faults, PartNames names) {
        FaultSummary summary = FaultSummary.of(faults, names, LEAST_FAULTS);
        return summary.lines().stream().map(FaultSummary.Line::text).collect(Collectors.joining("; ")) + more(summary);
    }

    private static String more(FaultSummary summary) {
        int parts = summary.moreParts();
        return (parts > 0 ? "; " + parts + " more part" + (parts == 1 ? "" : "s") + " with fatal faults" : "")
                + (summary.moreFaults() > 0 ? "; and " + summary.moreFaults() + " more" : "");
    }

    /** With its one instruction. */
    private static String of(FaultSummary.Line line, int room) {
        String message =
                line.cause().message().replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
        return line.text()
                + " since " + line.raised().get(0).since().truncatedTo(ChronoUnit.SECONDS)
                + (message.isEmpty() ? "" : ": " + Text.truncate(message, Math.min(room, LONGEST_MESSAGE)))
                + (line.cause().action() == RecommendedAction.NONE ? "" : " (" + ActionText.name(line.cause()) + ")");
    }

    static List<String> names(List<QuarantineRuleSet> sets) {
        return sets.stream().map(QuarantineRuleSet::name).toList();
    }
}
