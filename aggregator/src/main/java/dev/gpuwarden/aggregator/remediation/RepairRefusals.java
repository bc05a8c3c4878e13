package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The rules for attempts that ended before anything was tried on hardware. Such an end proves nothing about the hardware, so no
 * stronger action follows from it. Pure.
 */
final class RepairRefusals {

    /** The pause before the next attempt, in which a pod can leave, or another action can end. */
    static final Duration PAUSE = Duration.ofMinutes(1);

    /** The number of postponed attempts in a row after which an operator must act. */
    static final int MOST = 3;

    /** The reasons that end by themselves. */
    private static final Set<String> PASSING = Set.of(
            NotTried.NODE_NOT_DRAINED,
            NotTried.NODE_IN_SERVICE,
            NotTried.ALREADY_IN_PROGRESS,
            NotTried.LOCK_LOST,
            NotTried.PROVIDER_UNREACHABLE,
            NotTried.DRIVER_UPGRADE,
            NotTried.REFUSED_ON_NODE);

    private RepairRefusals() {}

    /** Returns the outcome of a resource that has ended without success. */
    static Outcome outcome(MaintenanceResource ended) {
        if (!NotTried.is(ended.reason())) {
            return Outcome.FAILED;
        }
        return PASSING.contains(ended.reason()) ? Outcome.POSTPONED : Outcome.REFUSED;
    }

    /**
     * Returns the task of an operator; empty while another attempt may follow.
     *
     * @param postponed attempts in a row that were postponed, the oldest first
     */
    static Optional<String> task(Demand demand, List<Repair> postponed) {
        return postponed.size() < MOST
                ? Optional.empty()
                : Optional.of(task(demand, postponed.get(postponed.size() - 1), postponed.size() + " times in a row"));
    }

    static String task(Demand demand, Repair refused, String how) {
        return demand.name() + ": find the reason, then repair the node by hand: the "
                + refused.group().what() + " (" + refused.resource() + ") was refused "
                + (how.isEmpty() ? "" : how + " ") + "before anything was tried: "
                + refused.result().map(Repair.Result::why).orElse("");
    }

    static String wait(Demand demand, RepairGroup group, Instant until) {
        return demand.name() + " waits: the " + group.what()
                + " was refused before anything was tried, and is decided again at " + until;
    }

    /** Returns the time before which no other attempt may follow; empty if it is over. */
    static Optional<Instant> until(List<Repair> postponed, Instant now) {
        return postponed.stream()
                .flatMap(repair -> repair.result().stream())
                .map(result -> result.at().plus(PAUSE))
                .reduce((first, last) -> last)
                .filter(until -> until.isAfter(now));
    }
}
