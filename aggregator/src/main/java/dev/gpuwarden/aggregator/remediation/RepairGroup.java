package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.Collection;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * An equivalence group: requests of one group lead to the same action, so one action answers all of them.
 *
 * @param gpus UUIDs of the GPUs that are reset together; empty for a restart
 */
public record RepairGroup(MaintenanceKind kind, SortedSet<String> gpus) {

    public static final RepairGroup RESTART =
            new RepairGroup(MaintenanceKind.REBOOT_NODE, Collections.emptySortedSet());

    public RepairGroup {
        gpus = Collections.unmodifiableSortedSet(new TreeSet<>(gpus));
    }

    /** @param gpus at least one UUID */
    public static RepairGroup reset(Collection<String> gpus) {
        return new RepairGroup(MaintenanceKind.GPU_RESET, new TreeSet<>(gpus));
    }

    public boolean restarts() {
        return kind == MaintenanceKind.REBOOT_NODE;
    }

    /** Returns NVSentinel's name of the group: {@code restart}, or {@code reset-} with the UUID. */
    public String name() {
        return restarts() ? "restart" : "reset-" + String.join("+", gpus);
    }

    /** Returns the action for operators. */
    String what() {
        return restarts() ? "reboot" : "reset of " + String.join(", ", gpus);
    }
}
