package dev.gpuwarden.watchdog.observation;

/**
 * A request for memory of a GPU, made before its tenant allocates it.
 *
 * @param number rises in the order of arrival
 * @param tenant identity of the tenant that will allocate
 * @param bytes the requested amount
 * @param unusedBytes of a granted one, what its tenant has not allocated since; of a waiting one the amount
 * @param sinceNanos begin of its present state, by the clock of the observations
 * @param granted false while it waits
 * @param borrows whether it may take memory that budgets promise to others
 * @param anyGpu whether another GPU of the node would do too
 */
public record Reservation(
        long number,
        String tenant,
        long bytes,
        long unusedBytes,
        long sinceNanos,
        boolean granted,
        boolean borrows,
        boolean anyGpu) {

    /** Returns the same one, granted at this time. */
    public Reservation grantedAt(long nanos) {
        return new Reservation(number, tenant, bytes, bytes, nanos, true, borrows, anyGpu);
    }

    /** Returns the same one, of which less is still unused. */
    public Reservation withUnused(long left) {
        return new Reservation(number, tenant, bytes, left, sinceNanos, granted, borrows, anyGpu);
    }
}
