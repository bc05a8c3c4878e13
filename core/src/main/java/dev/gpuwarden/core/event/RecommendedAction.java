package dev.gpuwarden.core.event;

import java.util.Locale;

/** The recommended action for a fault. Numbers are those of the wire (health_event.proto, RecommendedAction). */
public enum RecommendedAction {
    NONE(0),
    COMPONENT_RESET(2),
    CONTACT_SUPPORT(5),
    RUN_FIELDDIAG(6),
    RESTART_VM(15),
    RESTART_BM(24),
    REPLACE_VM(25),
    RUN_DCGMEUD(26),
    /** The action is named by {@link HealthEvent#customAction()}. */
    CUSTOM(27),
    REMEDIATE(28),
    UNKNOWN(99);

    private final int number;

    RecommendedAction(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /**
     * Returns the action of a wire number; {@code UNKNOWN} for a number that this version does not define, since it
     * still requests an action.
     */
    public static RecommendedAction of(int number) {
        for (RecommendedAction action : values()) {
            if (action.number == number) {
                return action;
            }
        }
        return UNKNOWN;
    }

    /** Returns the name in lower case with hyphens, for command lines and JSON. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
