package dev.gpuwarden.core.event;

import java.util.Optional;
import java.util.regex.Pattern;

/** The recommended action of an event as text. Pure. */
public final class ActionText {

    /** Metadata key of the remedy that the check gave. */
    public static final String REMEDY = "gpuwarden.dev/remedy";

    private static final Pattern RESET = Pattern.compile("reset .+: sudo gpuwarden gpu-reset [^(]+ \\([^)]+\\)");

    private ActionText() {}

    public static String name(HealthEvent event) {
        return event.action() == RecommendedAction.CUSTOM
                        && !event.customAction().isEmpty()
                ? event.customAction()
                : event.action().label();
    }

    /** Returns one instruction: the check's remedy, or the meaning of the event's action if the check gave none. */
    public static String advice(HealthEvent event) {
        return advice(
                event,
                gpu(event, Entity.GPU_UUID)
                        .or(() -> gpu(event, Entity.PCI))
                        .or(() -> gpu(event, Entity.GPU_INDEX))
                        .map(name -> reset(name.startsWith("GPU-") ? name : "GPU " + name, name)));
    }

    /** @param reset the instruction for a reset of the event's GPU; empty if it names none */
    public static String advice(HealthEvent event, Optional<String> reset) {
        String remedy = event.metadata().getOrDefault(REMEDY, "");
        String advice = remedy.isEmpty() ? action(event, reset) : remedy;
        if (event.strategy().actedOn()) {
            return advice;
        }
        String why = Proof.isMissing(event) ? "the log does not show who wrote this line, so" : "stored only,";
        return why + " no program acts on it; if it is right: " + advice;
    }

    /**
     * Returns the instruction for a reset of a GPU of this node. nvidia-smi alone refuses while the daemon has the GPU open.
     *
     * @param label "GPU 5"
     * @param argument its index, UUID or PCI address, with those of the GPUs that can only be reset with it
     */
    public static String reset(String label, String argument) {
        return "reset " + label + ": sudo gpuwarden gpu-reset " + argument
                + " --arm (without --arm it shows the steps and who holds it)";
    }

    /** Returns whether a remedy is a reset and no more. Its GPU is named where it is printed, since indexes change. */
    public static boolean isReset(String remedy) {
        return RESET.matcher(remedy).matches();
    }

    private static Optional<String> gpu(HealthEvent event, String type) {
        return event.entities().stream()
                .filter(entity -> entity.type().equals(type))
                .map(Entity::value)
                .findFirst();
    }

    private static String action(HealthEvent event, Optional<String> reset) {
        return switch (event.action()) {
            case NONE -> "this alone asks for nothing on the node";
            case COMPONENT_RESET -> reset.orElse("stop what uses the part, then reset it");
            case CONTACT_SUPPORT -> "take the node out of service and ask the vendor, with the archive of this event";
            case RUN_FIELDDIAG -> "take the node out of service and run the vendor's field diagnostics";
            case RESTART_VM, RESTART_BM -> "drain the node and reboot it";
            case REPLACE_VM -> "drain the node and replace it";
            case RUN_DCGMEUD -> "drain the GPU and run the DCGM diagnostics (dcgmi diag -r 3)";
            case CUSTOM -> "the sender's action " + event.customAction();
            case REMEDIATE -> "hand the node over for repair";
            case UNKNOWN -> "read the message: this version does not support the action that its sender requests";
        };
    }
}
