package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.util.Text;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;

/** What a person reads on the Node. The same faults and rules give the same text. */
public final class Explanation {

    private static final int MOST_FAULTS = 3;
    private static final int LONGEST_MESSAGE = 200;

    private Explanation() {}

    static String of(QuarantineReasons held, DesiredTaintsAndLabels effects) {
        String faults =
                held.faults().stream().limit(MOST_FAULTS).map(Explanation::of).collect(Collectors.joining("; "));
        int more = held.faults().size() - MOST_FAULTS;
        return faults
                + (more > 0 ? "; and " + more + " more" : "")
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

    public static String of(Fault fault) {
        String message =
                fault.cause().message().replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
        return what(fault.key())
                + " since " + fault.since().truncatedTo(ChronoUnit.SECONDS)
                + (message.isEmpty() ? "" : ": " + Text.truncate(message, LONGEST_MESSAGE));
    }

    /** Check, code and part. */
    public static String what(FaultKey key) {
        String code = key.errorCode().isEmpty() ? "" : " " + key.errorCode();
        Entity entity = key.entity();
        return key.checkName()
                + code
                + (entity.equals(Entity.WHOLE) ? "" : " on " + entity.type() + " " + entity.value());
    }

    static List<String> names(List<QuarantineRuleSet> sets) {
        return sets.stream().map(QuarantineRuleSet::name).toList();
    }
}
