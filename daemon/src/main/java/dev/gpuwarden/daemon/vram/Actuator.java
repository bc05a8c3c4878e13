package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;

/** A way to make a tenant give its memory back. Thread-safe. */
public interface Actuator {

    /** Returns its name for records and metrics, for example {@code unit-restart}. */
    String name();

    /** Returns whether it is for this kind of tenant. Does not block. */
    boolean handles(Tenant tenant);

    /** Carries out a decision to recycle this tenant. Blocks, within a bound, until it was accepted or has failed. */
    Outcome recycle(Decision decision, Tenant tenant);

    /** Announces a decision in a dry run, where the tenant's operator sees it. Does nothing else, and does not block. */
    default void rehearse(Decision decision, Tenant tenant) {}

    /**
     * The end of an attempt.
     *
     * @param accepted whether the tenant ends by it; its memory may come back later
     * @param text cause of a failure, or what was done, for an operator
     */
    record Outcome(boolean accepted, String text) {}
}
