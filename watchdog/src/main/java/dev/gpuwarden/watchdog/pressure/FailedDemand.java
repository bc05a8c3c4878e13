package dev.gpuwarden.watchdog.pressure;

import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureState.Attempts;
import dev.gpuwarden.watchdog.pressure.PressureState.Seen;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Evidence, without help from the tenant, that it cannot allocate what its budget promises: a process of it ends soon
 * after its start, while less is free than budgets promise and the tenant lacks most of its own. This must happen again
 * and again. A tenant with nearly all of its budget is not starved, however briefly its processes live.
 */
final class FailedDemand {

    /** Workloads whose attempts are remembered. */
    private static final int MOST_WORKLOADS = 256;

    private final PressureRules rules;
    private Map<ProcessKey, Seen> processes = new LinkedHashMap<>();
    private final Map<String, Deque<Long>> attempts = new BoundedMap<>(MOST_WORKLOADS, true);

    FailedDemand(PressureRules rules, PressureState state) {
        this.rules = rules;
        state.processes().forEach(seen -> processes.put(seen.process(), seen));
        state.attempts().forEach(of -> attempts.put(of.workload(), new ArrayDeque<>(of.nanos())));
    }

    List<Seen> processes() {
        return List.copyOf(processes.values());
    }

    List<Attempts> attempts() {
        return attempts.entrySet().stream()
                .map(of -> new Attempts(of.getKey(), List.copyOf(of.getValue())))
                .toList();
    }

    /**
     * Adds a list of tenants that was read at this time.
     *
     * @param deficit whether less is free than budgets promise
     */
    void add(List<Tenant> tenants, boolean deficit, long nanos) {
        Map<ProcessKey, Seen> now = new LinkedHashMap<>();
        for (Tenant tenant : tenants) {
            boolean starved = deficit && lacksMost(tenant);
            for (ProcessKey process : tenant.processes()) {
                Seen before = processes.get(process);
                long first = before == null ? nanos : before.firstNanos();
                now.put(process, new Seen(process, tenant.workload(), first, starved));
            }
        }
        processes.forEach((process, seen) -> {
            boolean brief = nanos - seen.firstNanos() <= rules.attemptLasts().toNanos();
            if (!now.containsKey(process) && brief && seen.starved()) {
                attempts.computeIfAbsent(seen.workload(), workload -> new ArrayDeque<>())
                        .add(nanos);
            }
        });
        processes = now;
    }

    private boolean lacksMost(Tenant tenant) {
        return tenant.budget()
                .map(budget -> tenant.unmetBytes() >= budget * rules.starvedShare() && budget > 0)
                .asOptional()
                .orElse(false);
    }

    /** Returns the workloads whose demand fails, as of this time. */
    List<String> workloads(long nanos) {
        List<String> failing = new ArrayList<>();
        attempts.values().forEach(times -> {
            while (!times.isEmpty()
                    && (nanos - times.peek() > rules.attemptsWithin().toNanos() || times.size() > rules.attempts())) {
                times.remove();
            }
        });
        attempts.values().removeIf(Deque::isEmpty);
        attempts.forEach((workload, times) -> {
            if (times.size() >= rules.attempts()) {
                failing.add(workload);
            }
        });
        return failing;
    }
}
