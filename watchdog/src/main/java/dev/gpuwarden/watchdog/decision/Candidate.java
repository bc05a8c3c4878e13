package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * One tenant in a decision.
 *
 * @param spared why it is not recycled; empty if it may be
 */
public record Candidate(Tenant tenant, Optional<String> spared) {

    /** The largest use over budget first, then the largest share of its budget, the least important, the youngest. */
    private static final Comparator<Tenant> WORST_FIRST = Comparator.comparingLong(Tenant::overBytes)
            .thenComparingDouble(Candidate::overShare)
            .reversed()
            .thenComparingInt(Tenant::priority)
            .thenComparing(Tenant::started, Comparator.reverseOrder())
            .thenComparing(Tenant::id);

    private static double overShare(Tenant tenant) {
        return tenant.budget()
                .map(budget -> tenant.overBytes() / (double) Math.max(1, budget))
                .asOptional()
                .orElse(0.0);
    }

    /**
     * Returns all tenants, the worst offender first.
     *
     * @param starved workloads for which memory is needed, so that they are no offenders
     * @param doubtBytes what the tenants claim together beyond the memory in use: each one may be the cause of it
     * @param refusal why a workload is left alone for now
     */
    static List<Candidate> ranked(
            List<Tenant> tenants,
            List<String> starved,
            RecycleRules rules,
            long doubtBytes,
            Function<String, Optional<String>> refusal) {
        return tenants.stream()
                .sorted(WORST_FIRST)
                .map(tenant -> new Candidate(
                        tenant,
                        innocence(tenant, starved, rules, doubtBytes)
                                .or(tenant::exempt)
                                .or(() -> refusal.apply(tenant.workload()))))
                .toList();
    }

    /** Returns the first tenant of a ranking that is not spared. */
    static Optional<Tenant> worst(List<Candidate> ranking) {
        return ranking.stream()
                .filter(candidate -> candidate.spared().isEmpty())
                .map(Candidate::tenant)
                .findFirst();
    }

    /** Returns whether it is over its budget, though it may be spared for another reason. */
    boolean isOver(RecycleRules rules, long doubtBytes) {
        return innocence(tenant, List.of(), rules, doubtBytes).isEmpty();
    }

    private static Optional<String> innocence(
            Tenant tenant, List<String> starved, RecycleRules rules, long doubtBytes) {
        if (tenant.budget() instanceof Reading.Absent<Long> none) {
            return Optional.of("no budget: " + none.text());
        }
        if (tenant.used() instanceof Reading.Absent<Long> none) {
            return Optional.of("its use is unknown: " + none.text());
        }
        long budget = tenant.budget().asOptional().orElseThrow();
        if (tenant.overBytes() <= rules.toleranceOf(budget)) {
            return Optional.of(tenant.overBytes() <= 0 ? "within its budget" : "over its budget within the tolerance");
        }
        if (tenant.overBytes() - doubtBytes <= rules.toleranceOf(budget)) {
            return Optional.of("the tenants claim " + Mib.text(doubtBytes)
                    + " more than is in use, so it may be within its budget");
        }
        if (starved.contains(tenant.workload())) {
            return Optional.of("its own workload lacks the memory");
        }
        return tenant.leaving() ? Optional.of("it is ending") : Optional.empty();
    }
}
