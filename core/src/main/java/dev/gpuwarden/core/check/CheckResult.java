package dev.gpuwarden.core.check;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The result of a check's last run.
 *
 * @param findings as the check returned them, without damping
 * @param outcome the worst of them: FAIL, UNKNOWN, WARN, PASS, SKIPPED in this order
 */
public record CheckResult(CheckInfo check, Instant at, Duration took, List<Finding> findings, Outcome outcome) {

    /** The outcomes in the order in which they decide. */
    public static final List<Outcome> WORST_FIRST =
            List.of(Outcome.FAIL, Outcome.UNKNOWN, Outcome.WARN, Outcome.PASS, Outcome.SKIPPED);

    public static CheckResult of(CheckInfo check, Instant at, Duration took, List<Finding> findings) {
        return new CheckResult(check, at, took, List.copyOf(findings), worst(findings));
    }

    /** Returns the worst outcome; SKIPPED without findings, since the check does not apply. */
    public static Outcome worst(List<Finding> findings) {
        return WORST_FIRST.stream()
                .filter(outcome -> findings.stream().anyMatch(f -> f.outcome() == outcome))
                .findFirst()
                .orElse(Outcome.SKIPPED);
    }
}
