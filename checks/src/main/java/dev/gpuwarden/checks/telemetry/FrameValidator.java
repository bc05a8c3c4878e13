package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Rules for a frame as a whole. */
final class FrameValidator {

    /** The slots that each cadence fills. */
    private static final int[][] SLOTS =
            Stream.of(Cadence.values()).map(FrameValidator::slots).toArray(int[][]::new);

    private FrameValidator() {}

    private static int[] slots(Cadence cadence) {
        // All links are read at the slow cadence.
        return IntStream.range(0, GpuFrame.SLOTS)
                .filter(slot ->
                        slot < GpuMetric.count() ? GpuMetric.of(slot).isReadAt(cadence) : cadence == Cadence.SLOW)
                .toArray();
    }

    /**
     * Returns the GPU's state from its fast readings. One call that returned "lost" is enough. A GPU is unreadable if
     * calls failed and none succeeded. A missing permission proves neither. Allocates nothing.
     */
    static GpuState state(GpuFrame frame) {
        boolean reset = false;
        boolean succeeded = false;
        boolean refused = false;
        for (int slot : SLOTS[Cadence.FAST.ordinal()]) {
            Absence cause = frame.absence(slot);
            if (cause == Absence.GPU_LOST) {
                return GpuState.LOST;
            }
            reset |= cause == Absence.RESET_REQUIRED;
            succeeded |= cause == Absence.PRESENT || cause == Absence.IMPLAUSIBLE;
            refused |= cause == Absence.NO_PERMISSION;
        }
        if (reset) {
            return GpuState.RESET_REQUIRED;
        }
        return succeeded || refused || failure(frame) == 0 ? GpuState.ANSWERING : GpuState.UNREADABLE;
    }

    /**
     * Returns the driver's code of the first fast reading that failed; 0 if none did. A failure without a code is one of this
     * program.
     */
    static int failure(GpuFrame frame) {
        for (int slot : SLOTS[Cadence.FAST.ordinal()]) {
            if (frame.absence(slot) == Absence.FAILED && frame.code(slot) != 0) {
                return frame.code(slot);
            }
        }
        return 0;
    }

    /**
     * Marks the values of stale cadences absent. Existing causes of absence stay.
     *
     * @param staleByCadence fast and slow; the others own no readings
     */
    static void markStale(GpuFrame frame, boolean[] staleByCadence) {
        for (int cadence = 0; cadence < staleByCadence.length; cadence++) {
            if (!staleByCadence[cadence]) {
                continue;
            }
            for (int slot : SLOTS[cadence]) {
                if (frame.present(slot)) {
                    frame.putAbsent(slot, Absence.STALE, 0);
                }
            }
        }
    }

    /**
     * Returns the number of readings of a cadence that were refused as implausible, here or in the driver's adapter.
     * Allocates nothing.
     */
    static int implausible(GpuFrame frame, Cadence cadence) {
        int count = 0;
        for (int slot : SLOTS[cadence.ordinal()]) {
            if (frame.absence(slot) == Absence.IMPLAUSIBLE) {
                count++;
            }
        }
        return count;
    }

    /** Marks a whole cadence failed, for a sampler that broke its contract and threw. */
    static void fail(GpuFrame frame, Cadence cadence, long nowNanos) {
        for (int slot : SLOTS[cadence.ordinal()]) {
            frame.putAbsent(slot, Absence.FAILED, 0);
        }
        frame.sampled(cadence, nowNanos, nowNanos, 0);
    }
}
