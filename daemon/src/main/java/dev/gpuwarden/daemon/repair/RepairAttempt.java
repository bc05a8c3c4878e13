package dev.gpuwarden.daemon.repair;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * One repair of this server, as its record has it.
 *
 * @param subjects UUIDs of the GPUs at fault, of a reset all that were reset with them; the name of the check where a fault names
 *     none
 * @param why the faults, for operators
 * @param bootId the server's boot in which it began
 * @param end empty while it is in progress, also after a daemon that ended in the middle
 */
record RepairAttempt(
        String id,
        Kind kind,
        Set<String> subjects,
        String why,
        Instant began,
        String bootId,
        List<Step> steps,
        Optional<End> end) {

    /** The action. Names in lower case are those of the record. */
    enum Kind {
        RESET,
        REBOOT,
        /** The user's program. */
        HOOK;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The end of an attempt. */
    enum Outcome {
        SUCCEEDED,
        FAILED,
        /** Nothing was reset: the GPU is in use, or the daemon stopped. It is no failure of the hardware. */
        HELD;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Names of steps. */
    static final String DRAIN = "slurm-drain";

    static final String RESUME = "slurm-resume";
    static final String STOP = "stop-unit";
    static final String START = "start-unit";
    /** The reset is about to run: from here on, a boot in the middle is its failure. */
    static final String BEGIN_RESET = "begin-reset";

    static final String RESET = "reset";
    /** The archive of evidence before a reboot. One that was not kept stops no reboot. */
    static final String EVIDENCE = "evidence";

    static final String REBOOT = "reboot";
    /** The user's program is about to run: its effect is unknown after an end of the daemon. */
    static final String BEGIN_HOOK = "begin-hook";

    static final String HOOK = "hook";
    /** The daemon ended in the middle, or the disk did not take a step. */
    static final String INTERRUPTED = "interrupted";
    /** A line of the record that cannot be read, and may have been any step. */
    static final String UNREADABLE = "unreadable-line";

    /**
     * @param target the unit or node; empty where the name is enough
     * @param at its end
     */
    record Step(String name, String target, boolean done, String detail, Duration time, Instant at) {}

    record End(Instant at, Outcome outcome, String detail) {}

    RepairAttempt {
        subjects = Set.copyOf(subjects);
        steps = List.copyOf(steps);
    }

    RepairAttempt with(Step step) {
        List<Step> all = new ArrayList<>(steps);
        all.add(step);
        return new RepairAttempt(id, kind, subjects, why, began, bootId, all, end);
    }

    RepairAttempt with(End last) {
        return new RepairAttempt(id, kind, subjects, why, began, bootId, steps, Optional.of(last));
    }

    RepairAttempt as(Kind other) {
        return new RepairAttempt(id, other, subjects, why, began, bootId, steps, end);
    }

    /** Returns the last such step that was done; empty if there is none. */
    Optional<Step> done(String step) {
        return last(step, Step::done);
    }

    /** Returns the last such step, also one that failed; empty if there is none. */
    Optional<Step> last(String step) {
        return last(step, each -> true);
    }

    private Optional<Step> last(String step, Predicate<Step> condition) {
        return steps.stream()
                .filter(each -> each.name().equals(step) && condition.test(each))
                .reduce((first, second) -> second);
    }

    /** Returns true if the record has the begin of the reset and not its end. */
    boolean isResetting() {
        return done(BEGIN_RESET).isPresent() && last(RESET).isEmpty();
    }

    /** Returns true if the daemon ended in the middle, or the disk did not take a step: the GPU has no part in it. */
    boolean interrupted() {
        return done(INTERRUPTED).isPresent();
    }

    boolean ended(Outcome outcome) {
        return end.filter(last -> last.outcome() == outcome).isPresent();
    }

    /** Returns the units that were stopped and not started again, in the order of their stops. */
    List<String> stoppedUnits() {
        Set<String> stopped = new LinkedHashSet<>();
        for (Step step : steps) {
            // A stop without success may have stopped it too, and a start of a unit that runs has no effect.
            if (step.name().equals(STOP)) {
                stopped.add(step.target());
            } else if (step.name().equals(START) && step.done()) {
                stopped.remove(step.target());
            }
        }
        return List.copyOf(stopped);
    }

    /** Returns the action for operators. */
    String text() {
        return text(kind, subjects);
    }

    static String text(Kind kind, Set<String> subjects) {
        List<String> names = subjects.stream().sorted().toList();
        return switch (kind) {
            case RESET -> "reset of " + String.join(", ", names);
            case REBOOT -> "reboot of this server, for " + String.join(", ", names);
            case HOOK -> "hook for " + String.join(", ", names);
        };
    }
}
