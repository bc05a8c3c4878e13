package dev.gpuwarden.watchdog.decision;

/** The end of one decision. Every other verdict than {@link #RECYCLE} leaves all tenants alone. */
public enum Verdict {
    /** Memory or tenants are unknown, implausible or frozen, or contradict each other. */
    BLIND,
    /** There is no pressure. */
    CALM,
    /** The process list is too old for a decision; a new one is needed now. */
    STALE_TENANTS,
    /** A tenant is ending, and its memory is not back yet. */
    RELEASING,
    /**
     * A tenant should have ended by now, and its memory is not back. If it is ending by itself, the others are judged without
     * it; if it was chosen and does not end, none is recycled in its place.
     */
    NOT_RELEASED,
    /** Memory was short a moment ago, and is not by the last reading. */
    RECOVERING,
    /** Budgets lack memory, but no allocation failed yet. */
    DEFICIT_GRACE,
    /** No tenant is over its budget. */
    NOBODY_OVER,
    /** No tenant that lacks memory would have room, even if each tenant over its budget gave its excess back. */
    FUTILE,
    /** More memory has no known owner than the largest offender could give back. */
    UNATTRIBUTED,
    /** Each tenant over its budget is spared: it is exempt, or was recycled too recently or too often. Or the node's cap is reached. */
    CAPPED,
    /** One tenant is over its budget and gives its memory back. */
    RECYCLE
}
