package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.health.Measurement;
import java.math.BigDecimal;
import java.math.MathContext;

/** Limits as text. */
final class LimitText {

    private LimitText() {}

    /** Returns the value and the name of its source, without the reasons, for a message. */
    static String brief(Limit limit) {
        return number(limit.value()) + " (" + place(limit) + ")";
    }

    /** Returns the name of the source without the reasons: "limits.tsv:12". */
    static String place(Limit limit) {
        int end = limit.source().indexOf(", ");
        return end < 0 ? limit.source() : limit.source().substring(0, end);
    }

    static Measurement atMost(String name, double value, Limit limit) {
        return new Measurement(name, value, "at most " + number(limit.value()) + " (" + limit.source() + ")");
    }

    static Measurement atLeast(String name, double value, Limit limit) {
        return new Measurement(name, value, "at least " + number(limit.value()) + " (" + limit.source() + ")");
    }

    /** Returns the number without insignificant digits. */
    static String number(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            return Long.toString((long) value);
        }
        return new BigDecimal(value)
                .round(new MathContext(3))
                .stripTrailingZeros()
                .toPlainString();
    }

    static String percent(double share) {
        return Math.round(100 * share) + " %";
    }
}
