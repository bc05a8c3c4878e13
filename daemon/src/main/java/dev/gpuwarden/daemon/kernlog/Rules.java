package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What the user says about the kernel log.
 *
 * @param codes the first that applies to a signal decides; one with a threshold applies from its n-th occurrence on
 * @param patterns for records that say nothing known
 */
record Rules(List<CodeRule> codes, List<PatternRule> patterns) {

    static final Rules NONE = new Rules(List.of(), List.of());

    /**
     * @param count applies when so many were seen
     * @param within in this time; zero where the first one counts
     */
    record Threshold(int count, Duration within) {
        static final Threshold FIRST = new Threshold(1, Duration.ZERO);

        boolean everyTime() {
            return count == 1;
        }
    }

    /**
     * What becomes of a signal.
     *
     * @param ignore nothing at all; the rest says nothing then
     */
    record Ruling(boolean ignore, Severity severity, RecommendedAction action) {

        static final Ruling IGNORED = new Ruling(true, Severity.INFO, RecommendedAction.NONE);
    }

    /**
     * For a code that is known.
     *
     * @param code as the signal has it; an Xid without the part means all of its parts, and empty means any
     * @param severity as the catalogue has it where empty, so far as that fits the action
     * @param action as the catalogue has it where empty, so far as that fits the severity
     * @param origin file and line
     */
    record CodeRule(
            Signal.Kind kind,
            String code,
            boolean ignore,
            Optional<Severity> severity,
            Optional<RecommendedAction> action,
            Threshold threshold,
            String origin) {

        boolean matches(Signal signal) {
            return signal.kind() == kind
                    && (code.isEmpty()
                            || signal.code().equals(code)
                            || signal.family().equals(code));
        }

        Ruling ruling(Signal signal) {
            return ignore ? Ruling.IGNORED : of(severity, action, signal.severity(), signal.action());
        }
    }

    /** Severity and action agree: what is no fault of the part asks for nothing, what is fatal asks for something. */
    static Ruling of(
            Optional<Severity> severity,
            Optional<RecommendedAction> action,
            Severity usualSeverity,
            RecommendedAction usualAction) {
        if (severity.isEmpty() && action.isEmpty()) {
            return new Ruling(false, usualSeverity, usualAction);
        }
        Severity is = severity.orElseGet(() -> action.get() != RecommendedAction.NONE
                ? Severity.FATAL
                : usualSeverity == Severity.FATAL ? Severity.WARNING : usualSeverity);
        if (is != Severity.FATAL) {
            return new Ruling(false, is, RecommendedAction.NONE);
        }
        RecommendedAction does = action.orElse(usualAction);
        return new Ruling(false, is, does == RecommendedAction.NONE ? RecommendedAction.CONTACT_SUPPORT : does);
    }

    /** For messages that the catalogues do not know. */
    record PatternRule(
            String code,
            BoundedPattern pattern,
            String check,
            String componentClass,
            String message,
            Ruling ruling,
            Threshold threshold,
            String origin) {}
}
