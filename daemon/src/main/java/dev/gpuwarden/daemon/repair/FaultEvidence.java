package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The evidence for faults now. The fault of a check outlasts its readings: it ends after several passes, is held while it flaps, and
 * stays where its part cannot be read. A repair needs a reading that is bad now. Faults of other sources have no readings, and last
 * until their source ends them. Pure.
 *
 * @param damping parts between healthy and faulty
 * @param results the last result of each check
 */
record FaultEvidence(List<Damping> damping, List<CheckResult> results) {

    FaultEvidence {
        damping = List.copyOf(damping);
        results = List.copyOf(results);
    }

    /**
     * Returns why the fault is no reason for a repair now; empty if it is one.
     *
     * @param since end of the last repair of its part, before which a reading proves nothing
     */
    Optional<String> against(Fault fault, Optional<Instant> since) {
        if (!fault.key().agent().equals(FindingEvents.AGENT)) {
            return Optional.empty();
        }
        Optional<Damping> passes = Damping.of(fault, damping);
        return passes.isPresent()
                ? passes.map(Damping::text)
                : results.stream()
                        .filter(result ->
                                result.check().eventName().equals(fault.key().checkName()))
                        .findFirst()
                        .flatMap(result -> against(fault, result, since));
    }

    private static Optional<String> against(Fault fault, CheckResult result, Optional<Instant> since) {
        String check = result.check().id();
        if (since.filter(result.at()::isBefore).isPresent()) {
            return Optional.of(check + " has not run since the last repair");
        }
        List<Finding> findings = result.findings().stream()
                .filter(finding ->
                        concerns(finding.subject().entities(), fault.cause().entities()))
                .toList();
        if (has(findings, Outcome.FAIL) || has(findings, Outcome.WARN)) {
            return Optional.empty();
        }
        if (has(findings, Outcome.UNKNOWN) || findings.isEmpty()) {
            return Optional.of(check + " cannot decide now");
        }
        // A check that was skipped read nothing, so its last reading counts; a part that had passed before is in the
        // damping.
        return has(findings, Outcome.PASS) ? Optional.of(check + " passes now") : Optional.empty();
    }

    private static boolean has(List<Finding> findings, Outcome outcome) {
        return findings.stream().anyMatch(finding -> finding.outcome() == outcome);
    }

    /** Returns true for the same part; without names it is the whole node. */
    private static boolean concerns(List<Entity> part, List<Entity> fault) {
        return part.isEmpty() ? fault.isEmpty() : part.stream().anyMatch(fault::contains);
    }
}
