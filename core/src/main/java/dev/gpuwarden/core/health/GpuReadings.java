package dev.gpuwarden.core.health;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.ArrayList;
import java.util.List;

/** The check whether an answering GPU reports any plausible value. Pure. */
public final class GpuReadings {

    private GpuReadings() {}

    public static Finding judge(GpuSnapshot gpu) {
        Subject subject = Subject.of(gpu.identity());
        String label = gpu.identity().label();
        if (!anyQuickReading(gpu.frame())) {
            int slot = GpuFrame.slot(GpuMetric.TEMPERATURE);
            Absence cause = gpu.frame().absence(slot);
            int code = gpu.frame().code(slot);
            return Finding.unknown(
                    cause == Absence.STALE ? "gpu-stale" : "gpu-unreadable",
                    subject,
                    label + ": expected readings, but there is none: temperature: " + cause.text()
                            + (code == 0 ? "" : " (code " + code + ")"),
                    "see doctor");
        }
        List<String> refused = refused(gpu.frame());
        if (!refused.isEmpty()) {
            return Finding.warn(
                    "implausible-values",
                    subject,
                    label + ": the library answers values that cannot be true; refused: " + shortened(refused),
                    "see doctor; check that library and driver are of the same version");
        }
        return Finding.pass("gpu-readable", subject, label + ": its readings are fresh and plausible");
    }

    /** Returns whether a reading of the fast cadence is there. */
    static boolean anyQuickReading(GpuFrame frame) {
        for (int i = 0; i < GpuMetric.count(); i++) {
            if (GpuMetric.of(i).cadence() == Cadence.FAST && frame.present(i)) {
                return true;
            }
        }
        return false;
    }

    private static List<String> refused(GpuFrame frame) {
        List<String> refused = new ArrayList<>();
        for (int i = 0; i < GpuMetric.count(); i++) {
            if (frame.absence(i) == Absence.IMPLAUSIBLE) {
                refused.add(GpuMetric.of(i).label());
            }
        }
        return refused;
    }

    private static String shortened(List<String> names) {
        int shown = 5;
        return names.size() <= shown + 1
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, shown)) + " and " + (names.size() - shown) + " more";
    }
}
