package dev.gpuwarden.core.port;

/** A request to end all waits of a rank, also that of its joining. Any thread may make it, and it stays. */
public final class AbortSignal {

    private volatile boolean requested;

    public void request() {
        requested = true;
    }

    public boolean isRequested() {
        return requested;
    }
}
