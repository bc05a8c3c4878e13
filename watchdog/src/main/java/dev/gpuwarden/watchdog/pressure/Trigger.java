package dev.gpuwarden.watchdog.pressure;

/** A reason for pressure. */
public enum Trigger {
    /** Less memory is free than the floor: soon every allocation fails. */
    FLOOR,
    /** Less memory is free than the tenants' budgets still promise. */
    DEFICIT,
    /** A tenant within its budget failed to allocate, repeatedly. */
    DEMAND
}
