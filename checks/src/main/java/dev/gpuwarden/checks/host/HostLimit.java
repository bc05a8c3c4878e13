package dev.gpuwarden.checks.host;

import dev.gpuwarden.core.check.Limits.Limit;
import java.util.Locale;

/** Limits and numbers as text. */
final class HostLimit {

    private HostLimit() {}

    /** Returns the value and the name of its source, without the reasons, for a message. */
    static String brief(Limit limit) {
        return number(limit.value()) + " (" + limit.source().split(", ", 2)[0] + ")";
    }

    /** Returns the value and its source with the reasons, for evidence. */
    static String full(String how, Limit limit) {
        return how + " " + number(limit.value()) + " (" + limit.source() + ")";
    }

    /** Returns the number to a tenth. */
    static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.1f", value);
    }
}
