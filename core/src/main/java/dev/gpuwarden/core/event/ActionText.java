package dev.gpuwarden.core.event;

/** The recommended action of an event as text. Pure. */
public final class ActionText {

    /** Metadata key of the remedy that the check gave. */
    public static final String REMEDY = "gpuwarden.dev/remedy";

    private ActionText() {}

    public static String name(HealthEvent event) {
        return event.action() == RecommendedAction.CUSTOM
                        && !event.customAction().isEmpty()
                ? event.customAction()
                : event.action().label();
    }

    /** Returns one instruction: the check's remedy, or the meaning of the event's action if the check gave none. */
    public static String advice(HealthEvent event) {
        String remedy = event.metadata().getOrDefault(REMEDY, "");
        String advice = remedy.isEmpty() ? action(event) : remedy;
        if (event.strategy().actedOn()) {
            return advice;
        }
        String why = Proof.isMissing(event) ? "the log does not show who wrote this line, so" : "stored only,";
        return why + " no program acts on it; if it is right: " + advice;
    }

    /**
     * Returns the reset command with the GPU's name as `nvidia-smi` takes it. PCI addresses of events have no
     * function; it is added.
     */
    private static String gpu(HealthEvent event) {
        String command = "; for a GPU: nvidia-smi --gpu-reset -i ";
        return event.entities().stream()
                .filter(entity -> entity.type().equals(Entity.GPU_UUID))
                .map(entity -> command + entity.value())
                .findFirst()
                .or(() -> event.entities().stream()
                        .filter(entity -> entity.type().equals(Entity.PCI))
                        .map(entity ->
                                command + (entity.value().contains(".") ? entity.value() : entity.value() + ".0"))
                        .findFirst())
                .orElse(command + "INDEX");
    }

    private static String action(HealthEvent event) {
        return switch (event.action()) {
            case NONE -> "this alone asks for nothing on the node";
            case COMPONENT_RESET -> "stop what uses the part, then reset it" + gpu(event);
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
