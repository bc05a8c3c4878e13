package dev.gpuwarden.watchdog.pressure;

import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The pressure on one GPU over time. Not thread-safe. Give it plausible readings alone. */
public final class PressureMonitor {

    private final PressureRules rules;
    private final Hysteresis floor;
    private final Hysteresis deficit;
    private final FailedDemand demand;
    private long tenantsNanos = Long.MIN_VALUE;

    public PressureMonitor(PressureRules rules) {
        this.rules = rules;
        floor = new Hysteresis(rules);
        deficit = new Hysteresis(rules);
        demand = new FailedDemand(rules);
    }

    /**
     * Adds a reading and returns the pressure after it.
     *
     * @param tenants the last list
     * @param listedAtNanos time of that list; a list that was given before adds nothing
     */
    public Pressure add(GpuBytes memory, List<Tenant> tenants, long nanos, long listedAtNanos) {
        long promised = tenants.stream()
                .filter(tenant -> !tenant.leaving())
                .mapToLong(Tenant::unmetBytes)
                .sum();
        long limit = rules.floorOf(memory.total());
        floor.add(memory.free() < limit, memory.free() >= limit + rules.marginBytes(), nanos);
        deficit.add(memory.free() < promised, memory.free() >= promised + rules.marginBytes(), nanos);
        if (listedAtNanos != tenantsNanos) {
            tenantsNanos = listedAtNanos;
            demand.add(tenants, memory.free() < promised, listedAtNanos);
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
}
