package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;

/**
 * One finding of a check.
 *
 * @param code stable name in lower-case words, for example "gpu-lost"; that of a specification where it has one, such as
 *     "NCCL_BW_DEGRADED"; documented in docs/reference/checks.md
 * @param message subject, expected value, seen value
 * @param remedy next action for an operator; may be empty
 * @param action for automation; NONE unless the outcome is FAIL
 * @param evidence the measured numbers; may be empty
 */
public record Finding(
        Outcome outcome,
        String code,
        Subject subject,
        String message,
        String remedy,
        RecommendedAction action,
        List<Measurement> evidence) {

    public Finding {
        evidence = List.copyOf(evidence);
    }

    public static Finding pass(String code, Subject subject, String message) {
        return new Finding(Outcome.PASS, code, subject, message, "", RecommendedAction.NONE, List.of());
    }

    public static Finding warn(String code, Subject subject, String message, String remedy) {
        return new Finding(Outcome.WARN, code, subject, message, remedy, RecommendedAction.NONE, List.of());
    }

    public static Finding fail(String code, Subject subject, String message, String remedy, RecommendedAction action) {
        return new Finding(Outcome.FAIL, code, subject, message, remedy, action, List.of());
    }

    /** Returns a finding for a part that could not be checked and should have been. */
    public static Finding unknown(String code, Subject subject, String message, String remedy) {
        return new Finding(Outcome.UNKNOWN, code, subject, message, remedy, RecommendedAction.NONE, List.of());
    }

    /** Returns a finding for a part that need not be checked: the board lacks it, or the check is switched off. */
    public static Finding skipped(String code, Subject subject, String message) {
        return new Finding(Outcome.SKIPPED, code, subject, message, "", RecommendedAction.NONE, List.of());
    }

    public Finding with(Measurement... measurements) {
        return new Finding(outcome, code, subject, message, remedy, action, List.of(measurements));
    }
}
