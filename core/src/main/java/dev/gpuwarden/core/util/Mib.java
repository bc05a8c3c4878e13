package dev.gpuwarden.core.util;

/** Amounts of memory in words. */
public final class Mib {

    private Mib() {}

    /** Returns whole MiB with their unit, rounded down: `3000 MiB`. */
    public static String text(long bytes) {
        return (bytes >> 20) + " MiB";
    }
}
