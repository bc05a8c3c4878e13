package dev.gpuwarden.core.telemetry;

import dev.gpuwarden.core.model.Absence;

/** A filter that refuses impossible values before they are used. */
public final class Plausibility {

    private Plausibility() {}

    /**
     * Marks every implausible value of a cadence {@link Absence#IMPLAUSIBLE}, and what a GPU of no fabric cannot have
     * {@link Absence#NOT_SUPPORTED}. Allocates nothing.
     *
     * @return how many values were refused
     */
    public static int refuse(GpuFrame frame, Cadence cadence) {
        int refused = 0;
        for (int i = 0; i < GpuMetric.count(); i++) {
            GpuMetric metric = GpuMetric.of(i);
            if (metric.isReadAt(cadence) && frame.present(i) && !metric.plausible(frame.raw(i))) {
                frame.putAbsent(i, Absence.IMPLAUSIBLE, 0);
                refused++;
            }
        }
        if (cadence == Cadence.SLOW) {
            refused += refuseLinks(frame);
            leaveOutFabric(frame);
        } else {
            refused += refuseMemory(frame);
        }
        return refused;
    }

    /** Refuses used and free memory beyond the total, both, since it is unknown which one is wrong. */
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

    /**
     * Marks fabric values as not supported where there is no fabric: NVML returns state 0 and a struct of zeros there,
     * which would read as success and health.
     */
    private static void leaveOutFabric(GpuFrame frame) {
        if (frame.present(GpuMetric.FABRIC_STATE) && frame.raw(GpuMetric.FABRIC_STATE) == 0) {
            for (GpuMetric part : FABRIC_PARTS) {
                if (frame.present(part)) {
                    frame.putAbsent(GpuFrame.slot(part), Absence.NOT_SUPPORTED, 0);
                }
            }
        }
    }

    private static final GpuMetric[] FABRIC_PARTS = {
        GpuMetric.FABRIC_STATUS, GpuMetric.FABRIC_CLIQUE, GpuMetric.FABRIC_HEALTH_MASK, GpuMetric.FABRIC_HEALTH_SUMMARY
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
