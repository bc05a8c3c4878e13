package dev.gpuwarden.daemon.check.host;

import dev.gpuwarden.core.check.Limits.Limit;
import java.util.Locale;

/** Limits and numbers in words. */
final class HostLimit {

    private HostLimit() {}

    /** For a message: the value and where it stands, without the reasons. */
    static String brief(Limit limit) {
        return number(limit.value()) + " (" + limit.source().split(", ", 2)[0] + ")";
    }

    /** For evidence: with the reasons. */
    static String full(String how, Limit limit) {
        return how + " " + number(limit.value()) + " (" + limit.source() + ")";
    }

    /** To a tenth. */
    static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.1f", value);
    }
}
