package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;

/**
 * One thing found.
 *
 * @param code stable name in lower-case words, for example "gpu-lost"; documented in README
 * @param message subject, what was expected, what was seen
 * @param remedy what a person can do next; may be empty
 * @param action what a machine would have to do; NONE unless the outcome is FAIL
 * @param evidence the numbers behind it; may be empty
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

    /** Could not look, and that is wrong. */
    public static Finding unknown(String code, Subject subject, String message, String remedy) {
        return new Finding(Outcome.UNKNOWN, code, subject, message, remedy, RecommendedAction.NONE, List.of());
    }

    /** Could not look, and need not: the board has no such thing, or the check is switched off. */
    public static Finding skipped(String code, Subject subject, String message) {
        return new Finding(Outcome.SKIPPED, code, subject, message, "", RecommendedAction.NONE, List.of());
    }

    public Finding with(Measurement... measurements) {
        return new Finding(outcome, code, subject, message, remedy, action, List.of(measurements));
    }
}
