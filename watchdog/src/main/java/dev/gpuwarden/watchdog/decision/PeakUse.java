package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The largest use of each workload since the start. It shows a budget that is too small for its own workload. */
final class PeakUse {

    private static final int MOST_WORKLOADS = 1024;

    private final Map<String, Long> byWorkload = new BoundedMap<>(MOST_WORKLOADS, true);

    /** @param state as {@link #state} returned it */
    PeakUse(Map<String, Long> state) {
        byWorkload.putAll(state);
    }

    /** Returns the largest use by workload, the one that was seen least recently first. */
    Map<String, Long> state() {
        return new LinkedHashMap<>(byWorkload);
    }

    void add(List<Tenant> tenants) {
        tenants.forEach(tenant ->
                tenant.used().asOptional().ifPresent(used -> byWorkload.merge(tenant.workload(), used, Math::max)));
    }

    /** Returns the largest use of a workload; 0 where none is known. */
    long of(String workload) {
        return byWorkload.getOrDefault(workload, 0L);
    }

    /** Returns a sentence for each of these workloads that once used more than its budget now is. */
    List<String> outgrown(List<Tenant> tenants, List<String> workloads) {
        List<String> sentences = new ArrayList<>();
        for (Tenant tenant : tenants) {
            long peak = of(tenant.workload());
            tenant.budget()
                    .asOptional()
                    .filter(budget -> workloads.contains(tenant.workload()) && peak > budget)
                    .ifPresent(budget -> sentences.add("the budget of " + tenant.name() + " is too small: "
                            + Mib.text(budget) + ", but it has used " + Mib.text(peak)));
        }
        return sentences;
    }
}
