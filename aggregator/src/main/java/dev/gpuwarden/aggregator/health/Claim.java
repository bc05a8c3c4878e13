package dev.gpuwarden.aggregator.health;

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
public record Claim(Instant connected, String reporter) implements Comparable<Claim> {

    private static final Comparator<Claim> ORDER =
            Comparator.comparing(Claim::connected).thenComparing(Claim::reporter);

    /** The claim of a stream that begins when this was seen: later than that, whatever the node's clock says. */
    public static Claim next(Optional<Claim> seen, Instant opened, String reporter) {
        Instant own = opened.truncatedTo(ChronoUnit.MILLIS);
        Instant least = seen.map(claim -> claim.connected().plusMillis(1)).orElse(own);
        return new Claim(own.isBefore(least) ? least : own, reporter);
    }

    @Override
    public int compareTo(Claim other) {
        return ORDER.compare(this, other);
    }
}
