package dev.gpuwarden.checks.telemetry;

/** A gate that keeps workers out of the driver while its library is shut down and initialised again. */
final class DriverGate {

    /** The interval at which waiting threads check the gate. */
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
