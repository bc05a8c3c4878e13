package dev.gpuwarden.watchdog.reservation;

import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The change of reservations with a reading: what was allocated, and what is granted. */
public final class Grants {

    private Grants() {}

    /**
     * Returns the reservations after the allocations between two lists of tenants. A tenant's allocations use up its
     * grants, the oldest first. Memory that it gives back is not reserved for it again.
     */
    public static List<Reservation> afterUse(List<Reservation> all, List<Tenant> before, List<Tenant> now) {
        Map<String, Long> growth = new HashMap<>();
        now.forEach(tenant -> used(tenant).ifPresent(used -> growth.put(tenant.id(), used)));
        before.forEach(tenant ->
                used(tenant).ifPresent(used -> growth.computeIfPresent(tenant.id(), (id, is) -> is - used)));
        List<Reservation> after = new ArrayList<>(all.size());
        for (Reservation each : all) {
            long more = Math.max(0, growth.getOrDefault(each.tenant(), 0L));
            long taken = each.granted() ? Math.min(more, each.unusedBytes()) : 0;
            growth.computeIfPresent(each.tenant(), (id, left) -> left - taken);
            after.add(taken == 0 ? each : each.withUnused(each.unusedBytes() - taken));
        }
        return after;
    }

    private static Optional<Long> used(Tenant tenant) {
        return tenant.used().asOptional();
    }

    /**
     * Returns the reservations after those that have room were granted. Requests within a budget come first, each that
     * fits. The others come in their order, and none while a request within a budget waits: otherwise small requests would
     * keep a large one waiting without limit.
     *
     * @param room with all reservations of the GPU
     */
    public static List<Reservation> granted(Room room, long nanos) {
        List<Reservation> order = room.reservations().stream()
                .filter(each -> !each.granted())
                .sorted(Comparator.comparing((Reservation each) -> !room.isWithinBudget(each))
                        .thenComparingLong(Reservation::number))
                .toList();
        Room now = room;
        boolean waits = false;
        for (Reservation each : order) {
            boolean entitled = now.isWithinBudget(each);
            boolean fits = now.has(each) && (entitled || !waits);
            waits |= !fits;
            if (fits) {
                now = with(now, each.grantedAt(nanos));
            }
        }
        return now.reservations();
    }

    private static Room with(Room room, Reservation changed) {
        return new Room(
                room.freeBytes(),
                room.floorBytes(),
                room.tenants(),
                room.reservations().stream()
                        .map(each -> each.number() == changed.number() ? changed : each)
                        .toList());
    }
}
