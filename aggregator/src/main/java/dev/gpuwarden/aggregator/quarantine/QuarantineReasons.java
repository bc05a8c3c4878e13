package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.util.Text;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The faults that keep a node in quarantine: those that a rule matches, and those that put it there. The latter hold the node
 * until they end, even if the rules change.
 *
 * @param events the events that raised them, with the entities and codes that are still current; the oldest first
 * @param met the rule sets that match now, in order of their names
 * @param forced true if a sender requested the quarantine regardless of the rules
 */
public record QuarantineReasons(
        List<Fault> faults,
        List<HealthEvent> events,
        List<QuarantineRuleSet> met,
        List<RuleEvaluator.Unanswered> unanswered,
        boolean forced) {

    private static final Comparator<Fault> ORDER =
            Comparator.comparing(Fault::since).thenComparing(Fault::key, FaultKey.ORDER);

    static QuarantineReasons of(
            List<Fault> current, QuarantineState session, RuleEvaluator rules, Map<String, Object> node) {
        List<Fault> faults = new ArrayList<>();
        List<HealthEvent> events = new ArrayList<>();
        Map<String, QuarantineRuleSet> met = new java.util.TreeMap<>();
        Set<RuleEvaluator.Unanswered> unanswered = new LinkedHashSet<>();
        boolean forced = false;
        for (Map.Entry<HealthEvent, List<Fault>> raised :
                byCause(current, session).entrySet()) {
            HealthEvent cause = raised.getKey();
            List<Fault> all = raised.getValue();
            List<Fault> held = all.stream()
                    .filter(fault -> session.held().contains(fault.key()))
                    .toList();
            if (cause.strategy().actedOn()) {
                RuleEvaluator.Matches matches = rules.match(narrowed(cause, all), node);
                matches.met().forEach(set -> met.put(set.name(), set));
                unanswered.addAll(matches.unanswered());
                boolean force = cause.quarantine().force();
                forced |= force;
                held = force || !matches.met().isEmpty() ? all : held;
            }
            if (!held.isEmpty()) {
                faults.addAll(held);
                events.add(narrowed(cause, held));
            }
        }
        List<QuarantineRuleSet> sets = new ArrayList<>(met.values());
        if (forced) {
            sets.add(QuarantineRuleSet.FORCED);
        }
        return new QuarantineReasons(List.copyOf(faults), List.copyOf(events), sets, List.copyOf(unanswered), forced);
    }

    /**
     * Returns the rule sets that cannot be evaluated for the faults of the report from which this follows; empty if that is unknown:
     * a silent node may still have the fault of its own for which one failed.
     */
    Optional<List<RuleEvaluator.Unanswered>> evaluated(FaultReport report) {
        return report.standing() == FaultReport.Standing.SILENT && unanswered.isEmpty()
                ? Optional.empty()
                : Optional.of(unanswered);
    }

    private static Map<HealthEvent, List<Fault>> byCause(List<Fault> current, QuarantineState session) {
        Map<HealthEvent, List<Fault>> byCause = new LinkedHashMap<>();
        current.stream().sorted(ORDER).forEach(fault -> {
            if (!fault.cause().quarantine().skip() && !session.cancelled(fault)) {
                byCause.computeIfAbsent(fault.cause(), any -> new ArrayList<>()).add(fault);
            }
        });
        return byCause;
    }

    /** Returns a copy of the event without the entities and codes that are no longer current. */
    private static HealthEvent narrowed(HealthEvent event, Collection<Fault> faults) {
        Set<FaultKey> keys = faults.stream().map(Fault::key).collect(Collectors.toSet());
        return new HealthEvent(
                event.id(),
                event.version(),
                event.agent(),
                event.componentClass(),
                event.checkName(),
                event.fatal(),
                event.healthy(),
                event.message(),
                event.action(),
                event.errorCodes().stream()
                        .filter(code ->
                                keys.stream().anyMatch(key -> key.errorCode().equals(code)))
                        .toList(),
                event.entities().stream()
                        .filter(entity ->
                                keys.stream().anyMatch(key -> key.entity().equals(entity)))
                        .toList(),
                event.metadata(),
                event.generated(),
                event.nodeName(),
                event.quarantine(),
                event.drain(),
                event.strategy(),
                event.customAction());
    }

    /** The text on the Node for the operator. The same faults and rules give the same text. */
    public static final class Explanation {

        /** The smallest number of lines, if there are so many faults and fewer parts with fatal faults. */
        private static final int LEAST_FAULTS = 3;

        private static final int LONGEST_MESSAGE = 200;

        /** Everything that ends a line, moves a cursor or is blank. */
        private static final Pattern BLANKS = Pattern.compile("[\\p{Cntrl}\\s]+");

        /** The limit for all messages of one text, in characters: a Kubernetes Event has 1024 for the text. */
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

        /** Returns one text for each event that raised some of the faults. */
        public static List<String> each(List<Fault> faults, PartNames names) {
            return FaultSummary.raised(faults).stream()
                    .map(raised -> of(new FaultSummary.Line(FaultSummary.part(raised, names), raised), LONGEST_MESSAGE))
                    .toList();
        }

        /** Returns the worst faults in few words, each part with a fatal fault once. */
        public static String named(List<Fault> faults, PartNames names) {
            FaultSummary summary = FaultSummary.of(faults, names, LEAST_FAULTS);
            return summary.lines().stream().map(FaultSummary.Line::text).collect(Collectors.joining("; "))
                    + more(summary);
        }

        private static String more(FaultSummary summary) {
            int parts = summary.moreParts();
            return (parts > 0 ? "; " + parts + " more part" + (parts == 1 ? "" : "s") + " with fatal faults" : "")
                    + (summary.moreFaults() > 0 ? "; and " + summary.moreFaults() + " more" : "");
        }

        /** Returns the text of a line, with the advice of its fault. */
        private static String of(FaultSummary.Line line, int room) {
            String message =
                    BLANKS.matcher(line.cause().message()).replaceAll(" ").strip();
            return line.text()
                    + " since " + line.raised().get(0).since().truncatedTo(ChronoUnit.SECONDS)
                    + (message.isEmpty() ? "" : ": " + Text.truncate(message, Math.min(room, LONGEST_MESSAGE)))
                    + (line.cause().action() == RecommendedAction.NONE
                            ? ""
                            : " (" + ActionText.name(line.cause()) + ")");
        }

        static List<String> names(List<QuarantineRuleSet> sets) {
            return sets.stream().map(QuarantineRuleSet::name).toList();
        }
    }
}
