package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Pressure;
import java.util.List;
import java.util.Optional;

/**
 * One decision and everything that it was made of.
 *
 * @param pressure absent where the observation was no basis for one
 * @param ranking all tenants, the worst offender first; empty where none were compared
 * @param reason in words
 * @param notices further facts for an operator, such as a budget that its workload outgrew
 */
public record Decision(
        GpuObservation seen,
        Verdict verdict,
        Optional<Pressure> pressure,
        List<Candidate> ranking,
        String reason,
        List<String> notices) {

    public Decision {
        ranking = List.copyOf(ranking);
        notices = List.copyOf(notices);
    }

    /** Returns the tenant to recycle. */
    public Optional<Tenant> recycled() {
        return Optional.of(ranking).filter(all -> verdict == Verdict.RECYCLE).flatMap(Candidate::worst);
    }

    /** Returns the tenants that are certainly over their budgets beyond the tolerance, the worst first, also those that are spared. */
    public List<Tenant> over(RecycleRules rules) {
        long doubt = seen.memory()
                .asOptional()
                .map(memory ->
                        Basis.overclaimed(memory, seen.tenants().asOptional().orElse(List.of())))
                .orElse(0L);
        return ranking.stream()
                .filter(candidate -> candidate.isOver(rules, doubt))
                .map(Candidate::tenant)
                .toList();
    }

    /** Returns whether processes should be listed often now: there is pressure, a tenant is ending, or the last list is false. */
    public boolean wantsTenants() {
        boolean answers = seen.memory().asOptional().isPresent()
                && seen.tenants().asOptional().isPresent();
        return verdict != Verdict.CALM && (verdict != Verdict.BLIND || answers);
    }
}
