package dev.gpuwarden.daemon.vram.audit;

/**
 * A budget or a setting that the measured use contradicts.
 *
 * @param subject a GPU or a workload
 * @param text expected and seen, in words
 */
public record Fault(Kind kind, String subject, String text) {

    /** The kinds of faults. */
    public enum Kind {
        /** The advertised amount and the floor do not fit the card together. */
        FLOOR_ABOVE_SLACK,
        /** The budgets and the floor do not fit the card together. */
        BUDGETS_ABOVE_CARD,
        /** The same memory has two sizes. */
        TWO_TOTALS,
        /** Two budgets would fit each other's workloads. */
        SWAPPED,
        /** A budget is below the use of ordinary times. */
        BELOW_USE,
        /** A budget is below the use of half of the time, though by little. */
        OVER_AT_REST,
        /** A budget is more than twice the largest use. */
        FAR_ABOVE_USE,
        /** A budget cannot be read, so that the workload has none. */
        UNREADABLE
    }
}
