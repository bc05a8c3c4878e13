package dev.gpuwarden.daemon.vram.limits;

/** The use of the driver's limits of memory for control groups. */
public enum LimitMode {
    /** None are set. */
    off,
    /** The driver keeps a tenant's budget for it; a tenant may have more. */
    guarantee,
    /** The driver keeps a tenant's budget for it, and gives it no more. */
    cap
}
