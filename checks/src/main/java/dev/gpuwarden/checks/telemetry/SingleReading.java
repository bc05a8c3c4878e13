package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.function.Function;

/** One reading of the node, for commands: a sampler that is closed after its first turn. */
public final class SingleReading {

    /** No limit on the time of a single read; the driver's own deadlines apply. */
    public static final Duration NO_LIMIT = Duration.ofDays(1);

    private SingleReading() {}

    /** Progress reports while waiting. */
    public interface Progress {
        /** Called every few seconds with what is missing. */
        void waiting(String what, Duration waited);
    }

    /** Reads the node once. Blocks until the driver answers, up to its deadlines. */
    public static <R> R once(
            DriverProvider provider, SamplingSettings settings, PciBus pciBus, Function<NodeSampler, R> reader) {
        return once(provider, settings, pciBus, NO_LIMIT, (what, waited) -> {}, reader);
    }

    /**
     * Reads the node once.
     *
     * @param most bound on the wait, if less than the deadlines; what has not answered by then is still starting
     */
    public static <R> R once(
            DriverProvider provider,
            SamplingSettings settings,
            PciBus pciBus,
            Duration most,
            Progress progress,
            Function<NodeSampler, R> reader) {
        NodeSampler sampler = new NodeSampler(provider, settings, pciBus);
        boolean answered = false;
        try {
            sampler.start();
            Duration needed = settings.firstReadings();
            answered = sampler.awaitFirst(needed.compareTo(most) < 0 ? needed : most, progress);
            return reader.apply(sampler);
        } finally {
            if (answered) {
                sampler.close();
            } else {
                // Closing waits for calls that do not return, and this program has no time for that.
                Threads.daemon("gpuwarden-sampler-close", sampler::close).start();
            }
        }
    }
}
