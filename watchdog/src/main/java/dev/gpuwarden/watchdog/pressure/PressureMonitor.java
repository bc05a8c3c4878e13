package dev.gpuwarden.watchdog.pressure;

import dev.gpuwarden.watchdog.observation.Bytes;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.reservation.Room;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The pressure on one GPU over time. Not thread-safe. Give it plausible readings alone. */
public final class PressureMonitor {

    private final PressureRules rules;
    private final FailedDemand demand;
    private Hysteresis floor;
    private Hysteresis deficit;
    private Hysteresis withheld;
    private long tenantsNanos;
    /** Results of the last reading. */
    private List<String> failing = List.of();

    private List<Reservation> waiting = List.of();

    /** @param state that of an earlier monitor, which this one continues */
    public PressureMonitor(PressureRules rules, PressureState state) {
        this.rules = rules;
        demand = new FailedDemand(rules, state);
        floor = state.floor();
        deficit = state.deficit();
        withheld = state.withheld();
        tenantsNanos = state.tenantsNanos();
    }

    public PressureState state() {
        return new PressureState(floor, deficit, withheld, tenantsNanos, demand.processes(), demand.attempts());
    }

    /**
     * Adds a reading and returns the pressure after it.
     *
     * @param tenants the last list
     * @param reservations those of the GPU
     * @param listedAtNanos time of that list; a list that was given before adds nothing
     * @param current whether the list is as new as the reading. Use in an older one is no measure for the memory that budgets lack
     */
    public Pressure add(
            GpuBytes memory,
            List<Tenant> tenants,
            List<Reservation> reservations,
            long nanos,
            long listedAtNanos,
            boolean current) {
        long promised =
                Bytes.sum(tenants.stream().filter(tenant -> !tenant.leaving()).mapToLong(Tenant::unmetBytes));
        long limit = rules.floorOf(memory.total());
        long free = memory.free();
        floor = floor.after(free < limit, free >= limit + rules.marginBytes(), nanos, rules);
        Room room = new Room(free, limit, tenants, reservations);
        List<Reservation> unfit = room.withheld();
        if (current) {
            withheld = withheld.after(!unfit.isEmpty(), unfit.isEmpty(), nanos, rules);
            deficit = deficit.after(free < promised, free >= Bytes.plus(promised, rules.marginBytes()), nanos, rules);
        }
        if (listedAtNanos != tenantsNanos) {
            tenantsNanos = listedAtNanos;
            demand.add(tenants, free < promised, listedAtNanos);
        }
        failing = demand.workloads(nanos);
        waiting = unfit.stream()
                .filter(each -> withheld.on()
                        && nanos - each.sinceNanos() >= rules.reservationWaits().toNanos())
                .toList();
        List<String> starved = Stream.concat(failing.stream(), waiting.stream().map(room::workload))
                .distinct()
                .toList();
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
        return switch (trigger) {
            case FLOOR -> floor.isBreached(rules);
            case DEFICIT -> deficit.isBreached(rules);
            case DEMAND -> !acutelyFailing().isEmpty() || !acutelyWaiting().isEmpty();
        };
    }

    /** Returns the workloads whose allocations fail. */
    public List<String> failing() {
        return failing;
    }

    /** Returns the same, if the last readings themselves show that budgets lack memory; none otherwise. */
    public List<String> acutelyFailing() {
        return deficit.isBreached(rules) ? failing : List.of();
    }

    /** Returns the reservations within a budget that wait too long, if enough of the last readings have no room for them. */
    public List<Reservation> acutelyWaiting() {
        return withheld.isBreached(rules) ? waiting : List.of();
    }
}
