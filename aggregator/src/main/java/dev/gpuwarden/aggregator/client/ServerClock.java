package dev.gpuwarden.aggregator.client;

import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/**
 * The time of the API server, from the dates of its answers. Replicas write times that a successor compares, and the clock of one
 * of them can be minutes ahead. Before the first answer, and if no answer has a date, it is the own clock. It is at most a second
 * away, since dates are whole seconds, and corrects nothing that is within that. Thread-safe.
 */
public final class ServerClock extends Clock {

    private static final System.Logger LOG = System.getLogger(ServerClock.class.getName());

    private final Clock own;
    private Duration ahead = Duration.ZERO;

    /** @param own clock of this machine, which may be wrong */
    public ServerClock(Clock own) {
        this.own = own;
    }

    /** Returns the time of the own clock, for the time of a request. */
    Instant own() {
        return own.instant();
    }

    /**
     * Learns from an answer that has just arrived.
     *
     * @param sent result of {@link #own} before the request
     * @param header date in the form of HTTP; one that is missing or cannot be read changes nothing
     */
    void answered(Instant sent, @Nullable String header) {
        if (header == null) {
            return;
        }
        Instant received = own();
        try {
            answered(sent, received, Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(header)));
        } catch (DateTimeException e) {
            LOG.log(Level.DEBUG, "the date of an answer cannot be read: " + header);
        }
    }

    /**
     * Learns from an answer. Its date was the time of the server between both.
     *
     * @param sent time of the request by the own clock
     * @param received time of its answer by the own clock
     * @param date date of the answer, in whole seconds
     */
    public synchronized void answered(Instant sent, Instant received, Instant date) {
        Duration least = Duration.between(received, date);
        Duration most = Duration.between(sent, date.plusSeconds(1));
        if (least.compareTo(most) > 0) {
            // The own clock was set in the middle.
            return;
        }
        if (ahead.compareTo(least) < 0) {
            ahead = least;
        } else if (ahead.compareTo(most) > 0) {
            ahead = most;
        }
    }

    @Override
    public synchronized Instant instant() {
        return own.instant().plus(ahead);
    }

    @Override
    public ZoneId getZone() {
        return own.getZone();
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException("expected a use of instants alone");
    }
}
