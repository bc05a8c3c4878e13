package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.Sha256;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * An equivalence group: requests of one group lead to the same action, so one action answers all of them.
 *
 * @param gpus UUIDs of the GPUs that are reset together; empty for an action on the whole node
 */
public record RepairGroup(RepairKind kind, SortedSet<String> gpus) {

    private static final Pattern GPU = Pattern.compile("GPU-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private static final int LONGEST_NAME = 253;
    private static final int LONGEST_LABEL = 63;
    private static final int DIGITS = 24;

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

    /** Returns true for a UUID of a whole GPU, as the resource's schema requires. */
    static boolean isGpu(String uuid) {
        return GPU.matcher(uuid).matches();
    }

    /**
     * Returns the name of the resource of an attempt. The same attempt for the same faults of the same Node has the same name,
     * so a second create of it fails. A template with another kind
     * makes another attempt. The name for a template is also a label's value, as a Job requires.
     */
    String resource(String node, String uid, String fault, int attempt) {
        String of = kind instanceof TemplateKind users
                ? name() + "\0" + users.resources().path()
                : name();
        String id = Sha256.hex(String.join("\0", uid, of, fault, Integer.toString(attempt)), DIGITS);
        String start = "maintenance-";
        boolean template = template().isPresent();
        int room = (template ? LONGEST_LABEL : LONGEST_NAME) - start.length() - 1 - DIGITS;
        String name = template ? node.replace('.', '-') : node;
        return start + (name.length() > room ? name.substring(0, room) : name) + "-" + id;
    }
}
