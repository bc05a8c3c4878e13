package dev.gpuwarden.watchdog.reservation;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.Bytes;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The room for reservations on one GPU: its free memory without the floor and without what is set aside for others.
 *
 * @param floorBytes the floor of this card
 */
public record Room(long freeBytes, long floorBytes, List<Tenant> tenants, List<Reservation> reservations) {

    /** Returns whether the tenant's budget promises it this much more than it has and was granted. */
    public boolean isWithinBudget(Reservation waiting) {
        return tenant(waiting.tenant())
                .filter(tenant -> !tenant.leaving())
                .map(tenant -> tenant.unmetBytes() >= waiting.bytes() + grantedTo(waiting.tenant()))
                .orElse(false);
    }

    public boolean has(Reservation waiting) {
        return waiting.bytes() <= freeBytes - setAsideBytes(waiting);
    }

    /**
     * Returns the memory that stays free for others: the floor, what was granted and is not allocated yet, and what budgets
     * promise to other tenants. A tenant within its own budget has the same right as they, and one that borrows asks for
     * theirs.
     */
    public long setAsideBytes(Reservation waiting) {
        return Bytes.plus(floorBytes + grantedTo(waiting.tenant()), setAsideForOthers(waiting));
    }

    private long setAsideForOthers(Reservation waiting) {
        boolean takesPromised = waiting.borrows() || isWithinBudget(waiting);
        Map<String, Long> byTenant = new HashMap<>();
        for (Reservation each : reservations) {
            if (each.granted()) {
                byTenant.merge(each.tenant(), each.unusedBytes(), Long::sum);
            }
        }
        if (!takesPromised) {
            // A grant within a budget is a part of what the budget promises.
            tenants.stream()
                    .filter(tenant -> !tenant.leaving())
                    .forEach(tenant -> byTenant.merge(tenant.id(), tenant.unmetBytes(), Math::max));
        }
        byTenant.remove(waiting.tenant());
        return Bytes.sum(byTenant.values().stream().mapToLong(Long::longValue));
    }

    private long grantedTo(String tenant) {
        return reservations.stream()
                .filter(each -> each.granted() && each.tenant().equals(tenant))
                .mapToLong(Reservation::unusedBytes)
                .sum();
    }

    private Optional<Tenant> tenant(String id) {
        return tenants.stream().filter(tenant -> tenant.id().equals(id)).findFirst();
    }

    /** Returns the reservations that wait for memory of their tenants' budgets on this GPU and have no room. */
    public List<Reservation> withheld() {
        return reservations.stream()
                .filter(each -> !each.granted() && !each.anyGpu() && isWithinBudget(each) && !has(each))
                .toList();
    }

    /** Returns the workload of the tenant of a reservation; its identity where it holds nothing and has no budget. */
    public String workload(Reservation of) {
        return tenant(of.tenant()).map(Tenant::workload).orElse(of.tenant());
    }

    /** Returns the room in words: what is free and for whom it is kept, and who is over its budget. */
    public String text(Reservation waiting) {
        List<String> parts = new ArrayList<>();
        parts.add(Mib.text(freeBytes) + " free");
        parts.add("the floor keeps " + Mib.text(floorBytes));
        long others = setAsideForOthers(waiting);
        if (others > 0) {
            parts.add(Mib.text(others)
                    + (waiting.borrows() || isWithinBudget(waiting) ? " granted" : " promised or granted")
                    + " to others");
        }
        long own = grantedTo(waiting.tenant());
        if (own > 0) {
            parts.add(Mib.text(own) + " granted to the same tenant");
        }
        tenants.stream()
                .filter(tenant -> tenant.overBytes() > 0)
                .max(Comparator.comparingLong(Tenant::overBytes).thenComparing(Tenant::id))
                .ifPresent(
                        worst -> parts.add(worst.name() + " is " + Mib.text(worst.overBytes()) + " over its budget"));
        if (tenant(waiting.tenant())
                .filter(tenant -> tenant.budget() instanceof Reading.Present<Long>)
                .isPresent()) {
            parts.add(isWithinBudget(waiting) ? "the request is within its budget" : "the request is above its budget");
        }
        return String.join("; ", parts);
    }
}
