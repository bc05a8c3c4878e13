package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Memory errors and the mode that finds them.
 *
 * <p>SRAM errors beyond the threshold are the field diagnostic's own criterion (nvml.h, nvmlEccSramErrorStatus_v1_t;
 * DCGM 118, ISOLATE). An uncorrected error alone condemns no GPU: DCGM isolates and NVSentinel resets at the first, OCI
 * at five, Azure at 10,000, gpud never. Since Ampere the error ends the process that met it; the row remapper and the
 * XIDs report any further work. ECC that is off is a matter of configuration (DCGM 55, CONFIG).
 */
@AutoService(HealthCheck.class)
public final class EccCheck extends GpuCheck {

    private static final String RESET =
            "reset the GPU when it is idle; that resets the counts and makes pending repairs";

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-ecc", "GPU", "ECC is on where expected, and memory errors are few.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong mode = builder.read(GpuMetric.ECC_MODE);
        if (mode.isPresent()) {
            mode(builder, mode.getAsLong() == 1, builder.limit("ecc_mode"));
            if (mode.getAsLong() == 1) {
                sram(builder);
                uncorrected(builder, builder.limit("ecc_volatile_uncorrected_count"));
                corrected(builder);
            }
        }
    }

    private static void mode(FindingBuilder builder, boolean on, Optional<Limit> expected) {
        long now = on ? 1 : 0;
        OptionalLong pending = builder.optional(GpuMetric.ECC_MODE_PENDING, now);
        if (pending.isPresent() && pending.getAsLong() != now) {
            builder.warn(
                    "ecc-mode-pending",
                    "expected one ECC mode, but it is " + word(on) + " now and " + word(!on) + " after the next reset",
                    "reset the GPU, or set the mode back with nvidia-smi -e");
        }
        if (on) {
            builder.pass("ecc-sound", "ECC is on");
        } else if (expected.isPresent() && expected.get().value() >= 1) {
            builder.warn(
                    "ecc-off",
                    "expected ECC on, limit " + LimitText.brief(expected.get()) + ", but it is off",
                    "nvidia-smi -e 1, then reset; if it is off on purpose, set ecc_mode to 0 for this board",
                    LimitText.atLeast("ecc_mode", 0, expected.get()));
        } else {
            builder.skip("ecc-off", "ECC is off, and no limit requires it");
        }
    }

    private static String word(boolean on) {
        return on ? "on" : "off";
    }

    private static void sram(FindingBuilder builder) {
        if (builder.isSet(GpuMetric.ECC_SRAM_THRESHOLD_EXCEEDED)) {
            builder.fail(
                    "sram-threshold-exceeded",
                    "expected SRAM errors below the field diagnostic's threshold, but they exceed it",
                    "drain it, run the field diagnostic, and have the board replaced",
                    RecommendedAction.RUN_FIELDDIAG,
                    new Measurement("ecc_sram_threshold_exceeded", 1, "0"));
        }
    }

    private static void uncorrected(FindingBuilder builder, Optional<Limit> limit) {
        OptionalLong read = builder.read(GpuMetric.ECC_VOLATILE_UNCORRECTED);
        if (read.isEmpty() || read.getAsLong() == 0) {
            return;
        }
        long errors = read.getAsLong();
        Measurement inLife = new Measurement(
                "ecc_aggregate_uncorrected_count", builder.raw(GpuMetric.ECC_AGGREGATE_UNCORRECTED, errors), "");
        if (limit.isPresent() && errors > limit.get().value()) {
            builder.fail(
                    "ecc-uncorrected-many",
                    "expected at most " + LimitText.brief(limit.get()) + " uncorrected errors since the driver was"
                            + " loaded, but there are " + errors,
                    "drain it and run the field diagnostic",
                    RecommendedAction.RUN_FIELDDIAG,
                    LimitText.atMost("ecc_volatile_uncorrected_count", errors, limit.get()),
                    inLife);
        } else {
            builder.warn(
                    "ecc-uncorrected",
                    "expected no uncorrected errors since the driver was loaded, but there are " + errors,
                    RESET,
                    new Measurement("ecc_volatile_uncorrected_count", errors, "0"),
                    inLife);
        }
    }

    private static void corrected(FindingBuilder builder) {
        OptionalLong read = builder.read(GpuMetric.ECC_VOLATILE_CORRECTED);
        if (read.isEmpty() || read.getAsLong() == 0) {
            return;
        }
        builder.limit("ecc_volatile_corrected_count")
                .filter(limit -> read.getAsLong() > limit.value())
                .ifPresent(limit -> builder.warn(
                        "ecc-corrected-many",
                        "expected at most " + LimitText.brief(limit)
                                + " corrected errors since the driver was loaded, but there are " + read.getAsLong(),
                        RESET,
                        LimitText.atMost("ecc_volatile_corrected_count", read.getAsLong(), limit)));
        builder.limit("ecc_corrected_per_minute")
                .ifPresent(limit -> builder.perMinute(
                                GpuMetric.ECC_VOLATILE_CORRECTED, limit, "rate of corrected errors")
                        .filter(rate -> rate > limit.value())
                        .ifPresent(rate -> builder.warn(
                                "ecc-corrected-rate",
                                "expected at most " + LimitText.brief(limit)
                                        + " corrected errors a minute, but there were " + LimitText.number(rate),
                                RESET,
                                LimitText.atMost("ecc_corrected_per_minute", rate, limit))));
    }
}
