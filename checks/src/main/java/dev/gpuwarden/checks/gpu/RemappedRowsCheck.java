package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.OptionalLong;

/**
 * Row remapping, from Ampere on; Autopilot's check `remapped`. A pending row is remapped by a reset (DCGM 85, RESET;
 * gpud, NVSentinel). A failed remap is the criterion for replacement (NVIDIA, GPU Memory Error Management; gpud: the
 * failure comes before the reset). No count of remapped rows condemns a board: gpud dropped that rule to agree with
 * DCGM.
 */
@AutoService(HealthCheck.class)
public final class RemappedRowsCheck extends GpuCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                "gpu-remapped-rows", "GPU", "No row remap is pending or failed, and every bank has spare rows.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong failure = builder.read(GpuMetric.REMAPPED_ROWS_FAILURE);
        if (failure.isPresent() && failure.getAsLong() == 1) {
            builder.fail(
                    "row-remap-failure",
                    "expected every row remap to succeed, but one failed",
                    "drain it and have the board replaced",
                    RecommendedAction.CONTACT_SUPPORT,
                    rows(builder));
        }
        OptionalLong pending = builder.read(GpuMetric.REMAPPED_ROWS_PENDING);
        if (pending.isPresent() && pending.getAsLong() == 1) {
            builder.fail(
                    "row-remap-pending",
                    "expected no row waiting to be remapped, but one waits for the next reset",
                    "drain it, then reset the GPU",
                    RecommendedAction.COMPONENT_RESET,
                    rows(builder));
        }
        if (failure.isPresent() && pending.isPresent()) {
            banks(builder);
        }
    }

    /**
     * Checks the spare rows of the memory banks. Not every driver reports them. Without the report, the failed remap
     * reveals a bank that has run out.
     */
    private static void banks(FindingBuilder builder) {
        OptionalLong none = builder.optional(GpuMetric.REMAP_BANKS_NONE, 0);
        if (none.isEmpty()) {
            return;
        }
        long empty = none.getAsLong();
        if (empty > 0) {
            builder.warn(
                    "row-remap-bank-exhausted",
                    "expected spare rows in every memory bank, but " + empty + " have none left",
                    "the next error in such a bank cannot be repaired: plan to replace the board",
                    new Measurement("remap_banks_none_count", empty, "0"));
        } else {
            builder.pass("rows-sound", "no row remap waits or failed", rows(builder));
        }
    }

    private static Measurement rows(FindingBuilder builder) {
        long rows = builder.raw(GpuMetric.REMAPPED_ROWS_CORRECTABLE, 0)
                + builder.raw(GpuMetric.REMAPPED_ROWS_UNCORRECTABLE, 0);
        return new Measurement("remapped_rows_count", rows, "");
    }
}
