package dev.gpuwarden.daemon.telemetry;

import org.HdrHistogram.Histogram;

/** What sampling costs and where it failed; counts since start. All calls are cheap and never wait for the driver. */
public interface SamplerStats {

    /** What a worker does to one GPU in one turn. */
    enum Work {
        FAST,
        SLOW,
        PROCESSES;

        /** Lower case, for labels and JSON. */
        public String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** Turns that ended, of all GPUs. */
    long turns(Work work);

    /** Turns left out because the one before, or the machine, was late. */
    long overruns(Work work);

    /** A copy: how long turns took, in microseconds, driver calls and all. */
    Histogram durationsMicros(Work work);

    /** Turns that passed the deadline. */
    long hungTurns();

    /** Threads started in place of hung ones. */
    long replacementThreads();

    /** Threads that sit in a driver call beyond the deadline now. */
    int hungThreads();

    /** Implausible values refused, of all GPUs. */
    long refusedValues();

    /** Attempts to open the driver, the successful one included. */
    long driverOpenings();

    /** Times that the library was shut down and initialised again to see GPUs come or go. */
    long reinitialisations();
}
