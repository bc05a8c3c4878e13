package dev.gpuwarden.testkit.cluster;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Times of Leases and of some Events, of Kubernetes' type MicroTime. An API server refuses all but six digits of a second, and
 * {@link Instant#toString} leaves out zeros at the end.
 */
public final class MicroTime {

    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private MicroTime() {}

    /** Returns the time in UTC, as `2026-11-29T07:06:23.952000Z`. */
    public static String of(Instant time) {
        return FORMAT.format(time);
    }
}
