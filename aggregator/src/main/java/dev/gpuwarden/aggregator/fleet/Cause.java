package dev.gpuwarden.aggregator.fleet;

import java.util.Locale;

/** Why a node with faults that stop work is in service all the same. */
public enum Cause {
    /** The aggregator only says what it would do. */
    DRY_RUN,
    /** A limit is reached, or was. */
    BREAKER,
    /** A label of the node. */
    OPTED_OUT,
    /** None of the rule sets asks for it. */
    NO_RULE,
    /** Too old, not complete, or not possible. */
    REPORT,
    /** A person, or whoever told the fault, wants it so. */
    OVERRIDDEN,
    /** No aggregator acts. */
    NO_LEADER,
    /** It is going to be taken out of service. */
    PENDING,
    /** What quarantine has left on the node cannot be read. */
    MARKS,
    /** Something that decides could not be read. */
    UNKNOWN;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
