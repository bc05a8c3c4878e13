package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.daemon.kernlog.Rules.CodeRule;
import dev.gpuwarden.daemon.kernlog.Rules.PatternRule;
import dev.gpuwarden.daemon.kernlog.Rules.Ruling;
import dev.gpuwarden.daemon.kernlog.Rules.Threshold;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Applies the user's rules, and counts for those that want more than one occurrence. Not thread-safe. */
final class Rulings {

    /** Counted apart for each rule and part of the node; the one that was not seen for longest is forgotten. */
    private static final int MOST_COUNTS = 256;

    private record Counted(Object rule, Object part) {}

    private final Rules rules;
    private final Map<Counted, Deque<Instant>> counts = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Counted, Deque<Instant>> eldest) {
            return size() > MOST_COUNTS;
        }
    };

    Rulings(Rules rules) {
        this.rules = rules;
    }

    Rules rules() {
        return rules;
    }

    /**
     * The catalogue's own, unless a rule applies.
     *
     * @param part of the node; equal for the same one
     */
    Ruling of(Signal signal, Object part, Instant when) {
        Optional<CodeRule> first = Optional.empty();
        for (CodeRule rule : rules.codes()) {
            // Every rule counts, the ones behind the first that applies too.
            if (rule.matches(signal) && reached(rule, rule.threshold(), part, when) && first.isEmpty()) {
                first = Optional.of(rule);
            }
        }
        return first.map(rule -> rule.ruling(signal))
                .orElseGet(() -> new Ruling(false, signal.severity(), signal.action()));
    }

    /** Whether the pattern has matched as often as it must. */
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
