package dev.gpuwarden.checks.telemetry;

import org.HdrHistogram.Histogram;

/** The sampler's counters and durations since the start. All calls are cheap and never wait for the driver. */
public interface SamplerStats {

    /** A kind of turn that a worker takes for one GPU. */
    enum Work {
        FAST,
        SLOW,
        PROCESSES,
        /** Memory alone, while budgets are watched. */
        MEMORY;

        /** Returns the name in lower case, for labels and JSON. */
        public String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** Returns the turns that were skipped because the one before, or the machine, was late. */
    long overruns(Work work);

    /** Returns a copy of the durations of turns in microseconds, driver calls included. */
    Histogram durationsMicros(Work work);

    /** Returns the turns that exceeded the deadline. */
    long hungTurns();

    /** Returns the threads started in place of hung ones. */
    long replacementThreads();

    /** Returns the threads that are in a driver call beyond the deadline now. */
    int hungThreads();

    /** Returns the attempts to open the driver, the successful one included. */
    long driverOpenings();

    /** Returns how often the library was shut down and initialised again to detect GPUs that came or went. */
    long reinitialisations();
}
