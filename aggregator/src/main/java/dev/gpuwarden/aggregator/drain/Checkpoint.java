package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.cli.Durations;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;

/**
 * What a pod's annotations say of its work: that it can be saved, on a signal, in so much time.
 *
 * @param signal as `SIGUSR1`; the node decides which it knows
 * @param grace how long that takes
 * @param odd what was said of it and could not be read; empty where nothing was
 * @param saved what the pod says of it itself, a time if it is as it should be; empty where it says nothing
 */
record Checkpoint(String signal, Duration grace, Optional<String> odd, String saved) {

    static final String SIGNAL = "gpuwarden.dev/checkpoint-signal";
    static final String GRACE = "gpuwarden.dev/checkpoint-grace";
    static final String SAVED = "gpuwarden.dev/checkpointed";

    private static final Duration USUAL = Duration.ofMinutes(5);

    /** Empty where the pod wants no signal. */
    static Optional<Checkpoint> of(Map<String, String> annotations) {
        String signal = annotations.getOrDefault(SIGNAL, "").strip();
        if (signal.isEmpty()) {
            return Optional.empty();
        }
        String text = annotations.getOrDefault(GRACE, "").strip();
        Optional<Duration> grace = Durations.find(text);
        Optional<String> odd = text.isEmpty() || grace.isPresent()
                ? Optional.empty()
                : Optional.of(GRACE + " is no duration such as 5m: " + text);
        return Optional.of(new Checkpoint(
                signal,
                grace.orElse(USUAL),
                odd.map(DrainAnnotation::cut),
                annotations.getOrDefault(SAVED, "").strip()));
    }

    /** Whether it has been saved since it was told to; a time before that is of another occasion. */
    boolean savedSince(Instant told) {
        if (saved.isEmpty()) {
            return false;
        }
        try {
            return !Instant.parse(saved).isBefore(told.truncatedTo(ChronoUnit.SECONDS));
        } catch (DateTimeException e) {
            return true;
        }
    }
}
