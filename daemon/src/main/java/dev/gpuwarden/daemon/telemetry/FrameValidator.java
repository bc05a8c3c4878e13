package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.stream.IntStream;

/** What a frame as a whole says. */
final class FrameValidator {

    /** By cadence, the slots that it fills. */
    private static final int[][] SLOTS = {slots(Cadence.FAST), slots(Cadence.SLOW)};

    private FrameValidator() {}

    private static int[] slots(Cadence cadence) {
        // Links are all read at the slow cadence.
        return IntStream.range(0, GpuFrame.SLOTS)
                .filter(slot -> (slot < GpuMetric.count() ? GpuMetric.of(slot).cadence() : Cadence.SLOW) == cadence)
                .toArray();
    }

    /** Whether the GPU answers, by the fast sampling: one call that says "lost" is enough. Allocates nothing. */
    static GpuState state(GpuFrame frame) {
        boolean reset = false;
        for (int slot : SLOTS[Cadence.FAST.ordinal()]) {
            if (!frame.present(slot)) {
                Absence cause = frame.absence(slot);
                if (cause == Absence.GPU_LOST) {
                    return GpuState.LOST;
                }
                reset |= cause == Absence.RESET_REQUIRED;
            }
        }
        return reset ? GpuState.RESET_REQUIRED : GpuState.ANSWERING;
    }

    /** Values of cadences that are stale no longer stand for the present; causes of absence stay as they are. */
    static void markStale(GpuFrame frame, boolean[] staleByCadence) {
        for (int cadence = 0; cadence < SLOTS.length; cadence++) {
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

    /** How many readings of a cadence are refused as implausible, whoever refused them. Allocates nothing. */
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
