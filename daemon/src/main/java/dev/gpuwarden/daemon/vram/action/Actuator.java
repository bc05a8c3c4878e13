package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.NotRecycled;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.Locale;
import java.util.Optional;

/** A way to make a tenant give its memory back. Thread-safe. */
public interface Actuator {

    /** Returns its name for records and metrics, for example {@code unit-restart}. */
    String name();

    /** Returns whether it is for this kind of tenant. Does not block. */
    boolean handles(Tenant tenant);

    /**
     * Carries out a decision to recycle this tenant. Blocks, within a bound, until it was accepted or has failed.
     *
     * @param recheck was asked immediately before; ask it again before each later step that ends something
     */
    Outcome recycle(Decision decision, Tenant tenant, Recheck recheck);

    /** Announces a decision in a dry run, where the tenant's operator sees it. Does nothing else, and does not block. */
    default void rehearse(Decision decision, Tenant tenant) {}

    /** The check of a decision by the newest state of the GPU, before an act. Thread-safe. */
    interface Recheck {

        /** Returns why the act must not be; empty if its reason still holds. Blocks for some seconds while the newest state is no basis. */
        Optional<String> objection();
    }

    /** The kind of end of an attempt. */
    enum End {
        /** The tenant ends by it; its memory may come back later. */
        ACCEPTED,
        /** It was refused before an attempt, or an attempt failed. */
        FAILED,
        /** The reason for it was over before it was done, or could not be seen any more. */
        NO_LONGER_NEEDED;

        /** Returns its name in metrics and records. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The end of an attempt.
     *
     * @param begun whether something was done to the tenant, or may have been
     * @param text cause of a failure, or what was done, for an operator
     */
    record Outcome(End end, boolean begun, String text) {

        public Outcome(boolean accepted, String text) {
            this(accepted ? End.ACCEPTED : End.FAILED, true, text);
        }

        /** Returns the outcome of an act that was refused before an attempt. */
        public static Outcome refused(String why) {
            return new Outcome(End.FAILED, false, why);
        }

        /** Returns the outcome of an act that was withheld before it began. */
        public static Outcome noLongerNeeded(String why) {
            return new Outcome(End.NO_LONGER_NEEDED, false, why);
        }

        /** Returns the outcome of an act that was ended because its begin was enough. */
        public static Outcome enough(String done) {
            return new Outcome(End.NO_LONGER_NEEDED, true, done);
        }

        /** Returns why the tenant was not recycled; empty if it was, at least in part. */
        public Optional<NotRecycled> notRecycled() {
            return switch (end) {
                case ACCEPTED -> Optional.empty();
                case FAILED -> Optional.of(begun ? NotRecycled.FAILED : NotRecycled.REFUSED);
                case NO_LONGER_NEEDED -> begun ? Optional.empty() : Optional.of(NotRecycled.WITHHELD);
            };
        }
    }
}
