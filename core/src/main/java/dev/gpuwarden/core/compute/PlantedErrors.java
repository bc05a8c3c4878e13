package dev.gpuwarden.core.compute;

import java.util.Optional;

/**
 * The errors that the host planted before comparisons. A comparison that misses one proves nothing, and neither does one without any.
 *
 * @param planted errors
 * @param missed those that the comparison did not report with their place and their bits
 * @param firstMissed the first of these in words
 */
public record PlantedErrors(int planted, int missed, Optional<String> firstMissed) {

    public static final PlantedErrors NONE = new PlantedErrors(0, 0, Optional.empty());
    public static final PlantedErrors FOUND = new PlantedErrors(1, 0, Optional.empty());

    public static PlantedErrors missed(String which) {
        return new PlantedErrors(1, 1, Optional.of(which));
    }

    public PlantedErrors and(PlantedErrors other) {
        return new PlantedErrors(planted + other.planted, missed + other.missed, firstMissed.or(other::firstMissed));
    }

    /** Returns the missed errors in words. */
    String text() {
        return "the GPU's own comparison missed " + missed + " of " + planted + " planted errors"
                + firstMissed.map(first -> "; the first is " + first).orElse("");
    }
}
