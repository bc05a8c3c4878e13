package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Resolution;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.util.BoundedMap;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The user's rules for the kernel log.
 *
 * @param codes the first rule that applies to a signal decides; one with a threshold applies from its n-th occurrence on
 * @param patterns rules for records without a known message
 */
record Rules(List<CodeRule> codes, List<PatternRule> patterns) {

    static final Rules NONE = new Rules(List.of(), List.of());

    /**
     * The number of occurrences from which a rule applies.
     *
     * @param within the time in which they must occur; zero where the first one counts
     */
    record Threshold(int count, Duration within) {
        static final Threshold FIRST = new Threshold(1, Duration.ZERO);

        boolean everyTime() {
            return count == 1;
        }
    }

    /**
     * A rule for a known code.
     *
     * @param ignore makes no event, as the severity INFO does
     * @param code the signal's code; an XID without the unit matches all its units, and empty matches any code
     * @param severity empty for the catalogue's severity, as far as it fits the action
     * @param action empty for the catalogue's action, as far as it fits the severity
     * @param origin the file and line
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

        Resolution resolution(Signal signal) {
            return ignore
                    ? new Resolution(Severity.INFO, RecommendedAction.NONE)
                    : of(severity, action, signal.severity(), signal.action());
        }
    }

    /** Makes severity and action agree: a fatal fault asks for an action, any other asks for none. */
    static Resolution of(
            Optional<Severity> severity,
            Optional<RecommendedAction> action,
            Severity usualSeverity,
            RecommendedAction usualAction) {
        if (severity.isEmpty() && action.isEmpty()) {
            return new Resolution(usualSeverity, usualAction);
        }
        Severity is = severity.orElseGet(() -> action.get() != RecommendedAction.NONE
                ? Severity.FATAL
                : usualSeverity == Severity.FATAL ? Severity.WARNING : usualSeverity);
        if (is != Severity.FATAL) {
            return new Resolution(is, RecommendedAction.NONE);
        }
        RecommendedAction does = action.orElse(usualAction);
        return new Resolution(is, does == RecommendedAction.NONE ? RecommendedAction.CONTACT_SUPPORT : does);
    }

    /** A rule for messages that the catalogues do not have. */
    record PatternRule(
            String code,
            BoundedPattern pattern,
            String check,
            String componentClass,
            String message,
            Resolution resolution,
            Threshold threshold,
            String origin) {}

    /** Evaluates rules, and counts occurrences for those with a threshold. Not thread-safe. */
    static final class Evaluator {

        /** The bound of counts, one per rule and part of the node. The least recently used one is dropped. */
        private static final int MOST_COUNTS = 256;

        private record Counted(Object rule, Object part) {}

        private final Rules rules;
        private final Map<Counted, Deque<Instant>> counts = new BoundedMap<>(MOST_COUNTS, true);

        Evaluator(Rules rules) {
            this.rules = rules;
        }

        Rules rules() {
            return rules;
        }

        /**
         * Returns the resolution of the first rule that applies, else the catalogue's.
         *
         * @param part the part of the node; must be equal for the same part
         */
        Resolution evaluate(Signal signal, Object part, Instant when) {
            Optional<CodeRule> first = Optional.empty();
            for (CodeRule rule : rules.codes()) {
                // Every matching rule counts, also behind the first one that applies.
                if (rule.matches(signal) && reached(rule, rule.threshold(), part, when) && first.isEmpty()) {
                    first = Optional.of(rule);
                }
            }
            return first.map(rule -> rule.resolution(signal))
                    .orElseGet(() -> new Resolution(signal.severity(), signal.action()));
        }

        /** Counts a match of the pattern and returns whether its threshold is reached. */
        boolean reached(PatternRule rule, Object part, Instant when) {
            return reached(rule, rule.threshold(), part, when);
        }

        private boolean reached(Object rule, Threshold threshold, Object part, Instant when) {
            if (threshold.everyTime()) {
                return true;
            }
            Deque<Instant> seen = counts.computeIfAbsent(new Counted(rule, part), c -> new ArrayDeque<>());
            seen.addLast(when);
            Instant oldest = when.minus(threshold.within());
            while (seen.size() > threshold.count()
                    || !seen.isEmpty() && seen.peekFirst().isBefore(oldest)) {
                seen.removeFirst();
            }
            return seen.size() >= threshold.count();
        }
    }
}
