package dev.gpuwarden.core.event;

/** What to do about an event, in words. */
public final class ActionText {

    private ActionText() {}

    public static String name(HealthEvent event) {
        return event.action() == RecommendedAction.CUSTOM
                        && !event.customAction().isEmpty()
                ? event.customAction()
                : event.action().label();
    }

    public static String advice(HealthEvent event) {
        return switch (event.action()) {
            case NONE -> "this alone asks for nothing on the node";
            case COMPONENT_RESET -> "stop what uses the part, then reset it; for a GPU: nvidia-smi --gpu-reset -i GPU";
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
