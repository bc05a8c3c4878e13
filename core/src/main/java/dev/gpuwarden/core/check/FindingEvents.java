package dev.gpuwarden.core.check;

import dev.gpuwarden.core.check.FaultChange.Kind;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.util.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Events for raised, changed and cleared faults. Pure. */
public final class FindingEvents {

    /** The agent of every event that a check of this program makes. */
    public static final String AGENT = Reporter.CHECKS;

    /** Metadata key: pass, warn, fail. */
    public static final String OUTCOME = HealthEvent.OUTCOME;
    /** Metadata key: the check's id. */
    public static final String CHECK = "gpuwarden.dev/check";
    /** Metadata key: the label of the finding's subject. */
    public static final String SUBJECT = "gpuwarden.dev/subject";

    private static final int MOST_TEXT = 2048;
    private static final int MOST_WORD = 200;
    private static final int MOST_REMEDY = 500;
    private static final int MOST_EVIDENCE = 16;
    /** Limit on names of a subject; a GPU has two. */
    private static final int MOST_NAMES = 8;

    private FindingEvents() {}

    public static HealthEvent of(FaultChange change, String nodeName) {
        boolean healthy = change.kind() == Kind.LIFTED;
        return HealthEvent.of(
                        AGENT, change.check().componentClass(), change.check().eventName())
                .healthy(healthy)
                .fatal(!healthy && change.meaning().fatal())
                .action(healthy ? RecommendedAction.NONE : change.meaning().action())
                .message(Text.truncate(message(change), MOST_TEXT))
                .errorCodes(List.of(Text.truncate(change.meaning().code(), MOST_WORD)))
                .entities(bounded(change.subject()).entities())
                .metadata(metadata(change))
                .generated(change.at())
                .nodeName(nodeName)
                .build();
    }

    private static String message(FaultChange change) {
        Finding finding = change.finding();
        String said = finding.message() + (finding.remedy().isEmpty() ? "" : "; " + finding.remedy());
        return switch (change.kind()) {
            case LIFTED -> change.meaning().code() + " is over: " + said;
            case HELD ->
                change.meaning().code() + " is held, since it is flapping: it came and went " + change.flaps()
                        + " times within 10 min, and must be good for 10 min; now: " + said;
            case RAISED, CHANGED ->
                change.flaps() == 0
                        ? said
                        : said + "; flapping: it came and went " + change.flaps() + " times within 10 min";
        };
    }

    /** Returns the subject with as many and as long names as an event has room for. */
    public static Subject bounded(Subject subject) {
        boolean fits = subject.entities().size() <= MOST_NAMES
                && subject.entities().stream().allMatch(FindingEvents::fits)
                && subject.label().length() <= MOST_WORD;
        return fits
                ? subject
                : new Subject(
                        Text.truncate(subject.label(), MOST_WORD),
                        subject.entities().stream()
                                .limit(MOST_NAMES)
                                .map(name -> new Entity(
                                        Text.truncate(name.type(), MOST_WORD), Text.truncate(name.value(), MOST_WORD)))
                                .toList());
    }

    private static boolean fits(Entity name) {
        return name.type().length() <= MOST_WORD && name.value().length() <= MOST_WORD;
    }

    private static Map<String, String> metadata(FaultChange change) {
        Finding finding = change.finding();
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(CHECK, change.check().id());
        metadata.put(OUTCOME, finding.outcome().name().toLowerCase(Locale.ROOT));
        metadata.put(SUBJECT, Text.truncate(finding.subject().label(), MOST_WORD));
        boolean own = !finding.remedy().isEmpty() && !ActionText.isReset(finding.remedy());
        if (own && change.kind() != Kind.LIFTED) {
            metadata.put(ActionText.REMEDY, Text.truncate(finding.remedy(), MOST_REMEDY));
        }
        finding.evidence().stream()
                .limit(MOST_EVIDENCE)
                .forEach(measurement -> metadata.put(Text.truncate(measurement.name(), MOST_WORD), text(measurement)));
        return metadata;
    }

    private static String text(Measurement measurement) {
        String value = number(measurement.value());
        return Text.truncate(
                measurement.expected().isEmpty() ? value : value + ", expected " + measurement.expected(), MOST_WORD);
    }

    /** Returns the number, without a fraction where it is whole. */
    static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
