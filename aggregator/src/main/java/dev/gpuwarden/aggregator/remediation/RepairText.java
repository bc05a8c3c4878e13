package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.ReportedGpus;
import java.util.Set;
import java.util.stream.Collectors;

/** The tasks of operators for faults that no automatic action repairs. The same input gives the same text. */
final class RepairText {

    /** The largest nodes have 16 GPUs. */
    private static final int MOST_NAMES = 16;

    private RepairText() {}

    /**
     * Returns the task that an operator has for an event without an automatic action; empty if there is none.
     *
     * @param there GPUs that the node reports
     */
    static String task(HealthEvent cause, Set<String> gpus, ReportedGpus there) {
        return switch (cause.action()) {
            case NONE -> "";
            case COMPONENT_RESET -> reset(cause, gpus, there);
            case RESTART_VM, RESTART_BM -> skipped("reboot it", cause);
            case CONTACT_SUPPORT -> "contact the vendor's support";
            case RUN_FIELDDIAG -> "run NVIDIA's field diagnosis";
            case RUN_DCGMEUD -> "run DCGM's EUD (dcgmi diag -r 4)";
            case REPLACE_VM -> "replace the machine";
            case CUSTOM ->
                "carry out the action " + (cause.customAction().isEmpty() ? "without a name" : cause.customAction());
            case REMEDIATE -> "repair it: the fault names no action";
            case UNKNOWN -> "repair it: the action of the fault is unknown to this version";
        };
    }

    private static String reset(HealthEvent cause, Set<String> gpus, ReportedGpus there) {
        if (gpus.isEmpty()) {
            return "reset its part by hand: the fault names no GPU";
        }
        Set<String> unknown = there.unknown(gpus);
        if (gpus.stream().allMatch(RepairGroup::isGpu) && !unknown.isEmpty()) {
            return unknown(unknown, there);
        }
        if (gpus.size() > 1) {
            String task = "reset its " + gpus.size() + " GPUs";
            return cause.drain().skip() ? skipped(task, cause) : task + " by hand: one action resets one reset unit";
        }
        return gpus.stream().allMatch(RepairGroup::isGpu)
                ? skipped("reset its GPU", cause)
                : "reset the GPU of " + String.join("", gpus) + " by hand: it is no UUID of a whole GPU";
    }

    private static String unknown(Set<String> gpus, ReportedGpus there) {
        String names = String.join(", ", gpus);
        if (!there.missing(gpus).isEmpty()) {
            return "correct the sender, or find the GPU: expected a GPU of the node, "
                    + there.gpus().stream()
                            .flatMap(gpu -> gpu.uuid().stream())
                            .limit(MOST_NAMES)
                            .collect(Collectors.joining(", "))
                    + ", seen " + names;
        }
        return there.gpus().isEmpty()
                ? "reset its GPU by hand, with gpuwarden gpu-reset on the node: expected " + names
                        + " in status.gpus of the node's NodeHealth, seen no GPUs"
                : "reset its GPU by hand, with gpuwarden gpu-reset on the node: its NodeHealth has no room for the reset unit of "
                        + names + " (status.unlistedGpuCount), or does not have the UUID of each GPU";
    }

    private static String skipped(String task, HealthEvent cause) {
        return task + " by hand" + (cause.drain().skip() ? ": the event skips the drain, so pods may still run" : "");
    }
}
