package dev.gpuwarden.checks.telemetry;

import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Dependencies that the monitors of all GPUs share.
 *
 * @param epochNanos start of the time grid of turns
 * @param listeners supplies one listener for each monitor
 */
record Sampling(
        SamplingSettings settings,
        LongSupplier clock,
        long epochNanos,
        SamplerCounters counters,
        DriverGate gate,
        ThreadLauncher launcher,
        Supplier<FrameListener> listeners,
        ProcessWatch watch,
        MemoryWatch memory,
        PauseDetector pauses) {}
