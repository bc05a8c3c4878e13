package dev.gpuwarden.aggregator.fleet;

import java.util.Optional;
import java.util.function.Function;

/**
 * The cluster's answer to a request, or the reason why it is unknown.
 *
 * @param why the reason why the value is unknown; empty if it is known
 */
public record Seen<T>(Optional<T> value, String why) {

    public static <T> Seen<T> of(T value) {
        return new Seen<>(Optional.of(value), "");
    }

    /** Applies the function to the value; an unknown value stays unknown for the same reason. */
    <R> Seen<R> then(Function<T, Seen<R>> next) {
        return value.map(next).orElseGet(() -> unknown(why));
    }

    public static <T> Seen<T> unknown(String why) {
        return new Seen<>(Optional.empty(), why);
    }
}
