package dev.gpuwarden.core.model;

import java.util.Optional;
import java.util.function.Function;

/**
 * A value that was read: present, or absent with its cause.
 *
 * @param <T> the value's type; its unit is named where the reading is declared
 */
public sealed interface Reading<T> {

    /** A present value. */
    record Present<T>(T value) implements Reading<T> {}

    /**
     * A missing value.
     *
     * @param code the driver's return code; 0 where there was none
     * @param detail the function or the reason; may be empty
     */
    record Absent<T>(Absence cause, int code, String detail) implements Reading<T> {
        /** Returns the cause in words, with code and detail where they add information. */
        public String text() {
            String withCode = code == 0 ? cause.text() : cause.text() + " (code " + code + ")";
            return detail.isEmpty() ? withCode : detail + ": " + withCode;
        }
    }

    static <T> Reading<T> of(T value) {
        return new Present<>(value);
    }

    static <T> Reading<T> absent(Absence cause) {
        return new Absent<>(cause, 0, "");
    }

    static <T> Reading<T> absent(Absence cause, int code, String detail) {
        return new Absent<>(cause, code, detail);
    }

    default Optional<T> asOptional() {
        return this instanceof Present<T> p ? Optional.of(p.value()) : Optional.empty();
    }

    default <R> Reading<R> map(Function<? super T, ? extends R> f) {
        if (this instanceof Present<T> p) {
            return new Present<>(f.apply(p.value()));
        }
        Absent<T> a = (Absent<T>) this;
        return new Absent<>(a.cause(), a.code(), a.detail());
    }
}
