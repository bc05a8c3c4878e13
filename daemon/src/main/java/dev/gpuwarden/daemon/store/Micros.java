package dev.gpuwarden.daemon.store;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times as the store has them: microseconds since 1970. */
final class Micros {

    private Micros() {}

    static long of(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** The same for times of others, which may lie beyond what a number holds. */
    static long clamped(Instant time) {
        try {
            return of(time);
        } catch (ArithmeticException e) {
            return time.isBefore(Instant.EPOCH) ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
