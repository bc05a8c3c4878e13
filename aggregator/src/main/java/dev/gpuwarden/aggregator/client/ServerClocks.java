package dev.gpuwarden.aggregator.client;

import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The clocks that follow the answers of one client. Thread-safe; clocks are added and never removed. */
final class ServerClocks {

    private final List<ServerClock> all = new CopyOnWriteArrayList<>();

    Clock add(Clock own) {
        ServerClock clock = new ServerClock(own);
        all.add(clock);
        return clock;
    }

    /** Returns the present time of each own clock. */
    List<Instant> own() {
        return all.stream().map(ServerClock::own).toList();
    }

    /**
     * Passes the date of an answer on.
     *
     * @param sent result of {@link #own} before the request
     * @param header date in the form of HTTP; one that is missing or cannot be read changes nothing
     */
    void answered(List<Instant> sent, @Nullable String header) {
        if (header == null) {
            return;
        }
        Instant date;
        try {
            date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(header));
        } catch (DateTimeException e) {
            return;
        }
        for (int i = 0; i < sent.size(); i++) {
            ServerClock clock = all.get(i);
            clock.answered(sent.get(i), clock.own(), date);
        }
    }
}
