package dev.gpuwarden.watchdog.decision;

import java.time.Duration;

/**
 * The rules for recycling.
 *
 * @param toleranceBytes use beyond a budget that is no offence
 * @param toleranceShare the same as a share of the budget; the larger of both counts
 * @param deficitGrace time for which a deficit alone only alerts
 * @param newestWithin age up to which a process list is good enough for recycling
 * @param longestGap time without a reading after which earlier readings no longer count
 * @param releaseWithin time in which an ending tenant must give its memory back
 * @param cooldown time after a recycle in which its workload is left alone; it doubles with each quick return
 * @param quickReturn time in which a workload that is recycled again has not been helped by it
 * @param mostQuickReturns recycles in a row that did not help, after which the budget counts as wrong
 * @param wrongFor time for which a workload with a wrong budget is left alone
 * @param mostPerHour recycles of all workloads of a node in an hour
 */
public record RecycleRules(
        long toleranceBytes,
        double toleranceShare,
        Duration deficitGrace,
        Duration newestWithin,
        Duration longestGap,
        Duration releaseWithin,
        Duration cooldown,
        Duration quickReturn,
        int mostQuickReturns,
        Duration wrongFor,
        int mostPerHour) {

    public static final RecycleRules DEFAULT = new RecycleRules(
            64L << 20,
            0.02,
            Duration.ofMinutes(10),
            Duration.ofSeconds(2),
            Duration.ofSeconds(5),
            Duration.ofSeconds(60),
            Duration.ofMinutes(10),
            Duration.ofHours(1),
            2,
            Duration.ofHours(6),
            6);

    /** Returns the use beyond this budget that is no offence. */
    long toleranceOf(long budgetBytes) {
        return Math.max(toleranceBytes, (long) (budgetBytes * toleranceShare));
    }
}
