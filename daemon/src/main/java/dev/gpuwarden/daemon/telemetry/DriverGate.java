package dev.gpuwarden.daemon.telemetry;

/** Keeps workers out of the driver while its library is shut down and initialised again. */
final class DriverGate {

    /** How often whoever waits at the gate looks again. */
    static final long POLL_NANOS = 10_000_000;

    private volatile boolean closed;

    boolean closed() {
        return closed;
    }

    void close() {
        closed = true;
    }

    void open() {
        closed = false;
    }
}
