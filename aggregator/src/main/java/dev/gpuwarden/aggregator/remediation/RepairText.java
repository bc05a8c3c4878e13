package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.Sha256;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Texts and names of repairs. The same input gives the same text. */
final class RepairText {

    private static final int LONGEST_NAME = 253;
    private static final int LONGEST_LABEL = 63;
    private static final int DIGITS = 24;
    /** The largest nodes have 16 GPUs. */
    private static final int MOST_NAMES = 16;

    private static final Pattern GPU = Pattern.compile("GPU-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

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
        if (gpus.stream().allMatch(RepairText::isGpu) && !unknown.isEmpty()) {
            return unknown(unknown, there);
        }
        if (gpus.size() > 1) {
            String task = "reset its " + gpus.size() + " GPUs";
            return cause.drain().skip() ? skipped(task, cause) : task + " by hand: one action resets one reset unit";
        }
        return gpus.stream().allMatch(RepairText::isGpu)
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

    /** Returns true for a UUID of a whole GPU, as the resource's schema requires. */
    static boolean isGpu(String uuid) {
        return GPU.matcher(uuid).matches();
    }

    private static String skipped(String task, HealthEvent cause) {
        return task + " by hand" + (cause.drain().skip() ? ": the event skips the drain, so pods may still run" : "");
    }

    /** Returns a digest of the faults and of the times at which they were raised. */
    static String digest(List<Fault> faults) {
        StringBuilder text = new StringBuilder();
        for (Fault fault : faults) {
            FaultKey key = fault.key();
            text.append(String.join(
                            "\0",
                            key.agent(),
                            key.componentClass(),
                            key.checkName(),
                            key.entity().type(),
                            key.entity().value(),
                            key.errorCode(),
                            fault.since().toString()))
                    .append('\n');
        }
        return Sha256.hex(text.toString(), DIGITS);
    }

    /**
     * Returns the name of the resource of an attempt. The same attempt for the same faults of the same Node has the same name,
     * so a second create of it fails. A template with another kind
     * makes another attempt. The name for a template is also a label's value, as a Job requires.
     */
    static String resource(String node, String uid, RepairGroup group, String fault, int attempt) {
        String of = group.kind() instanceof TemplateKind kind
                ? group.name() + "\0" + kind.resources().path()
                : group.name();
        String id = Sha256.hex(String.join("\0", uid, of, fault, Integer.toString(attempt)), DIGITS);
        String start = "maintenance-";
        boolean template = group.template().isPresent();
        int room = (template ? LONGEST_LABEL : LONGEST_NAME) - start.length() - 1 - DIGITS;
        String name = template ? node.replace('.', '-') : node;
        return start + (name.length() > room ? name.substring(0, room) : name) + "-" + id;
    }
}
