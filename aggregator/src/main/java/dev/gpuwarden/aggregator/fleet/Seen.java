package dev.gpuwarden.aggregator.fleet;

import java.util.Optional;
import java.util.function.Function;

/**
 * What the cluster said when it was asked, or why it is not known.
 *
 * @param why empty where it is known
 */
public record Seen<T>(Optional<T> value, String why) {

    public static <T> Seen<T> of(T value) {
        return new Seen<>(Optional.of(value), "");
    }

    /** What follows from it; unknown for the same reason where it is unknown. */
    <R> Seen<R> then(Function<T, Seen<R>> next) {
        return value.map(next).orElseGet(() -> unknown(why));
    }

    public static <T> Seen<T> unknown(String why) {
        return new Seen<>(Optional.empty(), why);
    }
}
