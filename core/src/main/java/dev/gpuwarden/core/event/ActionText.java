package dev.gpuwarden.core.event;

/** What to do about an event, in words. */
public final class ActionText {

    /** Metadata key: what mends the fault, from the check that found it. */
    public static final String REMEDY = "gpuwarden.dev/remedy";

    private ActionText() {}

    public static String name(HealthEvent event) {
        return event.action() == RecommendedAction.CUSTOM
                        && !event.customAction().isEmpty()
                ? event.customAction()
                : event.action().label();
    }

    /** One instruction: the check's own where it gave one, else what its action means. */
    public static String advice(HealthEvent event) {
        String remedy = event.metadata().getOrDefault(REMEDY, "");
        String advice = remedy.isEmpty() ? action(event) : remedy;
        return event.strategy().actedOn() ? advice : "stored only, no program acts on it; if it is right: " + advice;
    }

    /** With the name of the GPU as `nvidia-smi` takes it; a PCI address of events has no function. */
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
            case CUSTOM -> "what its sender calls " + event.customAction();
            case REMEDIATE -> "hand the node to whoever repairs it";
            case UNKNOWN -> "look at the message: its sender asks for something that this version does not know";
        };
    }
}
