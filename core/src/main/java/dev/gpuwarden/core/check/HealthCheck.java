package dev.gpuwarden.core.check;

import dev.gpuwarden.core.health.Finding;
import java.time.Duration;
import java.util.List;

/**
 * A check of one property of this node. Found by {@code ServiceLoader}; annotate the class with {@code @AutoService},
 * so that a check is one file.
 */
public interface HealthCheck {

    CheckInfo info();

    /**
     * Returns exactly one finding for each part that was checked, PASS included, since only a PASS clears an earlier
     * fault. No finding means that the check does not apply to this node. It writes nothing, keeps no state, and calls
     * no driver but those of {@link CheckContext#compute} and {@link CheckContext#collectives}: all inputs are in the context. An exception becomes UNKNOWN.
     */
    List<Finding> run(CheckContext context);

    /**
     * Returns the time limit of one run. A check with more than a second waits for something, such as a script. It runs
     * on a thread of its own, so that it delays no other check.
     */
    default Duration deadline() {
        return Duration.ofSeconds(1);
    }

    /** Returns the load on GPUs. {@code scan} runs checks without one alone, since it is a job scheduler's prolog. */
    default GpuLoad load() {
        return GpuLoad.NONE;
    }
}
