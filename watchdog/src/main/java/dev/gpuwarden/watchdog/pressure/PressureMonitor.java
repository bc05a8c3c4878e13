package dev.gpuwarden.watchdog.pressure;

import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The pressure on one GPU over time. Not thread-safe. Give it plausible readings alone. */
public final class PressureMonitor {

    private final PressureRules rules;
    private final FailedDemand demand;
    private Hysteresis floor;
    private Hysteresis deficit;
    private long tenantsNanos;

    /** @param state that of an earlier monitor, which this one continues */
    public PressureMonitor(PressureRules rules, PressureState state) {
        this.rules = rules;
        demand = new FailedDemand(rules, state);
        floor = state.floor();
        deficit = state.deficit();
        tenantsNanos = state.tenantsNanos();
    }

    public PressureState state() {
        return new PressureState(floor, deficit, tenantsNanos, demand.processes(), demand.attempts());
    }

    /**
     * Adds a reading and returns the pressure after it.
     *
     * @param tenants the last list
     * @param listedAtNanos time of that list; a list that was given before adds nothing
     * @param current whether the list is as new as the reading. Use in an older one is no measure for the memory that budgets lack
     */
    public Pressure add(GpuBytes memory, List<Tenant> tenants, long nanos, long listedAtNanos, boolean current) {
        long promised = tenants.stream()
                .filter(tenant -> !tenant.leaving())
                .mapToLong(Tenant::unmetBytes)
                .sum();
        long limit = rules.floorOf(memory.total());
        long free = memory.free();
        floor = floor.after(free < limit, free >= limit + rules.marginBytes(), nanos, rules);
        if (current) {
            deficit = deficit.after(free < promised, free >= promised + rules.marginBytes(), nanos, rules);
        }
        if (listedAtNanos != tenantsNanos) {
            tenantsNanos = listedAtNanos;
            demand.add(tenants, free < promised, listedAtNanos);
        }
        List<String> starved = demand.workloads(nanos);
        Set<Trigger> reasons = EnumSet.noneOf(Trigger.class);
        if (floor.on()) {
            reasons.add(Trigger.FLOOR);
        }
        if (deficit.on()) {
            reasons.add(Trigger.DEFICIT);
        }
        if (!starved.isEmpty()) {
            reasons.add(Trigger.DEMAND);
        }
        reasons.retainAll(rules.triggers());
        return new Pressure(reasons, limit, promised, deficit.sinceNanos(), starved);
    }

    /** Returns whether the last readings themselves are reason enough for this trigger. Pressure lasts longer than that. */
    public boolean isBreached(Trigger trigger) {
        return (trigger == Trigger.FLOOR ? floor : deficit).isBreached(rules);
    }
}
