package dev.gpuwarden.core.check;

import dev.gpuwarden.core.health.Finding;
import java.time.Duration;
import java.util.List;

/**
 * One question about this node's health. Found by {@code ServiceLoader}; annotate the class with {@code @AutoService}, so that a
 * check is one file.
 */
public interface HealthCheck {

    CheckInfo info();

    /**
     * Looks, and says what was found: exactly one finding for each part that was looked at, PASS included, since only a PASS
     * lifts an earlier fault. Nothing at all means that the check does not apply to this node. Writes nothing, keeps no state,
     * and calls no driver: everything to look at is in the context. What is thrown becomes UNKNOWN.
     */
    List<Finding> run(CheckContext context);

    /**
     * How long one look may take. A check that says more than a second waits for something, such as a script: it is run on a
     * thread of its own, so that it holds up no other check.
     */
    default Duration deadline() {
        return Duration.ofSeconds(1);
    }
}
