package dev.gpuwarden.watchdog.decision;

/** Amounts of memory in words. */
final class Mib {

    private Mib() {}

    static String text(long bytes) {
        return (bytes >> 20) + " MiB";
    }
}
