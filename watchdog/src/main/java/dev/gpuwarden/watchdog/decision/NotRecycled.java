package dev.gpuwarden.watchdog.decision;

/** The reason why a tenant was not recycled although it was decided. */
public enum NotRecycled {
    /** The reason for it was over, or could not be seen any more. */
    WITHHELD,
    /** It was refused before an attempt. The refusal may last, so the pause doubles with each in a row. */
    REFUSED,
    /** An attempt failed. It may still have an effect. */
    FAILED
}
