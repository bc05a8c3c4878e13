package dev.gpuwarden.aggregator.nodehealth;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Optional;

/**
 * On which stream of its node a status was told. Of two the later counts, whichever aggregator has it: aggregators know nothing
 * of each other.
 *
 * @param connected when the stream began, in milliseconds of the node's own clock, and after all that was known of others then
 * @param reporter the aggregator that has it
 */
public record StreamEpoch(Instant connected, String reporter) implements Comparable<StreamEpoch> {

    private static final Comparator<StreamEpoch> ORDER =
            Comparator.comparing(StreamEpoch::connected).thenComparing(StreamEpoch::reporter);

    /** The claim of a stream that begins when this was seen: later than that, whatever the node's clock says. */
    public static StreamEpoch next(Optional<StreamEpoch> seen, Instant opened, String reporter) {
        Instant own = opened.truncatedTo(ChronoUnit.MILLIS);
        Instant least = seen.map(claim -> claim.connected().plusMillis(1)).orElse(own);
        return new StreamEpoch(own.isBefore(least) ? least : own, reporter);
    }

    @Override
    public int compareTo(StreamEpoch other) {
        return ORDER.compare(this, other);
    }
}
