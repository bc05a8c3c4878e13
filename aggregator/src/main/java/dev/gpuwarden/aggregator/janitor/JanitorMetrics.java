package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.part.Counts;

/** Counters of the janitor. Thread-safe. */
public final class JanitorMetrics {

    /** The completed resources, by kind and result with a space between. */
    final Counts<String> completed = new Counts<>();

    void wrote(Maintenance resource, Step step) {
        if (step instanceof Step.SetStatus status) {
            status.change()
                    .result()
                    .ifPresent(success -> completed.add(
                            resource.kind().resources().kind() + " " + (success ? "succeeded" : "failed")));
        }
    }
}
