package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.util.Locale;

/** The severity and the action that follow from a word of NVIDIA's catalogues. A fatal severity asks for an action. */
public record Resolution(Severity severity, RecommendedAction action) {

    static final Resolution NOTHING = new Resolution(Severity.INFO, RecommendedAction.NONE);
    static final Resolution WATCH = new Resolution(Severity.WARNING, RecommendedAction.NONE);
    static final Resolution SUPPORT = fatal(RecommendedAction.CONTACT_SUPPORT);
    static final Resolution RESET = fatal(RecommendedAction.COMPONENT_RESET);
    static final Resolution REBOOT = fatal(RecommendedAction.RESTART_BM);

    static Resolution fatal(RecommendedAction action) {
        return new Resolution(Severity.FATAL, action);
    }

    /** Returns the resolution that a table writes as severity and action. */
    static Resolution of(String severity, String action) {
        return new Resolution(Severity.valueOf(severity.toUpperCase(Locale.ROOT)), RecommendedAction.valueOf(action));
    }

    /** Returns the resolution of a catalogue's word. An unknown word, and one that asks for an inspection, is a case for support. */
    static Resolution of(String bucket) {
        return switch (bucket) {
            case "IGNORE" -> NOTHING;
            // The first two concern one application. The XID 154 that comes with the third has the action.
            case "RESTART_APP", "WORKFLOW_XID_45", "XID_154_EVAL" -> WATCH;
            case "RESET_GPU", "RESET_FABRIC", "WORKFLOW_XID_48" -> RESET;
            case "RESTART_BM" -> REBOOT;
            case "RESTART_VM" -> fatal(RecommendedAction.RESTART_VM);
            default -> SUPPORT;
        };
    }
}
