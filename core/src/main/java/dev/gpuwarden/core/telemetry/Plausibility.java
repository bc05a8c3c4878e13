package dev.gpuwarden.core.telemetry;

import dev.gpuwarden.core.model.Absence;

/** Refuses what cannot be true before anybody sees it. */
public final class Plausibility {

    private Plausibility() {}

    /**
     * Marks every implausible value of a cadence {@link Absence#IMPLAUSIBLE}. Allocates nothing.
     *
     * @return how many values were refused
     */
    public static int refuse(GpuFrame frame, Cadence cadence) {
        int refused = 0;
        for (int i = 0; i < GpuMetric.count(); i++) {
            GpuMetric metric = GpuMetric.of(i);
            if (metric.cadence() == cadence && frame.present(i) && !metric.plausible(frame.raw(i))) {
                frame.putAbsent(i, Absence.IMPLAUSIBLE, 0);
                refused++;
            }
        }
        if (cadence == Cadence.SLOW) {
            refused += refuseLinks(frame);
        } else {
            refused += refuseMemory(frame);
        }
        return refused;
    }

    /** Used and free memory beyond the total: both are refused, since nobody can tell which one lies. */
    private static int refuseMemory(GpuFrame frame) {
        if (!frame.present(GpuMetric.MEMORY_TOTAL)) {
            return 0;
        }
        long total = frame.raw(GpuMetric.MEMORY_TOTAL);
        int refused = 0;
        for (GpuMetric part : MEMORY_PARTS) {
            if (frame.present(part) && frame.raw(part) > total) {
                frame.putAbsent(GpuFrame.slot(part), Absence.IMPLAUSIBLE, 0);
                refused++;
            }
        }
        return refused;
    }

    private static final GpuMetric[] MEMORY_PARTS = {
        GpuMetric.MEMORY_USED, GpuMetric.MEMORY_FREE, GpuMetric.MEMORY_RESERVED
    };

    private static int refuseLinks(GpuFrame frame) {
        int refused = 0;
        for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
            for (int i = 0; i < LinkMetric.count(); i++) {
                int slot = GpuFrame.slot(LinkMetric.of(i), link);
                if (frame.present(slot) && !LinkMetric.of(i).plausible(frame.raw(slot))) {
                    frame.putAbsent(slot, Absence.IMPLAUSIBLE, 0);
                    refused++;
                }
            }
        }
        return refused;
    }
}
