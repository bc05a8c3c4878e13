package dev.gpuwarden.api;

import com.google.protobuf.Timestamp;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;

/** The codec of instants on the wire. */
public final class Timestamps {

    // timestamp.proto: years 1 to 9999
    private static final long FIRST_SECOND = -62_135_596_800L;
    private static final long LAST_SECOND = 253_402_300_799L;

    private Timestamps() {}

    public static Timestamp toWire(Instant time) {
        return Timestamp.newBuilder()
                .setSeconds(time.getEpochSecond())
                .setNanos(time.getNano())
                .build();
    }

    /** Returns the instant; empty where the fields are outside of what timestamp.proto allows. */
    static Optional<Instant> parse(Timestamp time) {
        boolean allowed = time.getSeconds() >= FIRST_SECOND
                && time.getSeconds() <= LAST_SECOND
                && time.getNanos() >= 0
                && time.getNanos() <= 999_999_999;
        return allowed ? Optional.of(Instant.ofEpochSecond(time.getSeconds(), time.getNanos())) : Optional.empty();
    }

    /** @throws DateTimeException where {@link #parse} is empty */
    static Instant fromWire(Timestamp time) {
        return parse(time).orElseThrow(() -> new DateTimeException("no timestamp of the years 1 to 9999"));
    }
}
