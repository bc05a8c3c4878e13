package dev.gpuwarden.daemon.vram.budgets;

/** A signal as a notice to a tenant that it is over its budget while memory is short. */
public enum NotifySignal {
    SIGHUP(1),
    SIGUSR1(10),
    SIGUSR2(12);

    private final int number;

    NotifySignal(int number) {
        this.number = number;
    }

    /** Returns its number on x86-64 and arm64. */
    public int number() {
        return number;
    }
}
