package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.core.model.Identifiers;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * An equivalence group: requests of one group lead to the same action, so one action answers all of them.
 *
 * @param gpus UUIDs of the GPUs that are reset together; empty for an action on the whole node
 */
public record RepairGroup(RepairKind kind, SortedSet<String> gpus) {

    public static final RepairGroup RESTART =
            new RepairGroup(MaintenanceKind.REBOOT_NODE, Collections.emptySortedSet());

    public RepairGroup {
        gpus = Collections.unmodifiableSortedSet(Identifiers.gpus(gpus));
    }

    /** @param gpus at least one UUID */
    public static RepairGroup reset(Collection<String> gpus) {
        return new RepairGroup(MaintenanceKind.GPU_RESET, new TreeSet<>(gpus));
    }

    public boolean restarts() {
        return kind == MaintenanceKind.REBOOT_NODE;
    }

    /** Returns the name of the user's template; empty for an action of this program. */
    Optional<String> template() {
        return kind instanceof TemplateKind of ? Optional.of(of.template()) : Optional.empty();
    }

    /**
     * Returns NVSentinel's name of the group: {@code restart}, or {@code reset-} with the UUID. The group of a template has the
     * template's name, with the UUIDs if it acts on GPUs.
     */
    public String name() {
        if (template().isPresent()) {
            return template().get() + (gpus.isEmpty() ? "" : "-" + String.join("+", gpus));
        }
        return restarts() ? "restart" : "reset-" + String.join("+", gpus);
    }

    /** Returns the action for operators. */
    String what() {
        if (template().isPresent()) {
            return "template " + template().get() + (gpus.isEmpty() ? "" : " of " + String.join(", ", gpus));
        }
        return restarts() ? "reboot" : "reset of " + String.join(", ", gpus);
    }
}
