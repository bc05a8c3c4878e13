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
 * Retired pages of boards before Ampere (NVIDIA, Dynamic Page Retirement). Pending pages are retired when the driver is
 * loaded again (DCGM 6, RESET). Too many of them make a case for replacement, which the field diagnostic decides (DCGM
 * 7, ISOLATE).
 */
@AutoService(HealthCheck.class)
public final class RetiredPagesCheck extends GpuCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-retired-pages", "GPU", "No page is pending retirement, and few were retired.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
        if (builder.isSet(GpuMetric.RETIRED_PAGES_PENDING)) {
            builder.fail(
                    "page-retirement-pending",
                    "expected no page waiting to be retired, but some wait for the next reset",
                    "drain it, then reset the GPU",
                    RecommendedAction.COMPONENT_RESET,
                    new Measurement("retired_pages_pending", 1, "0"));
        }
        OptionalLong single = builder.read(GpuMetric.RETIRED_PAGES_SINGLE_BIT);
        OptionalLong twice = builder.read(GpuMetric.RETIRED_PAGES_DOUBLE_BIT);
        if (single.isPresent() && twice.isPresent()) {
            long all = single.getAsLong() + twice.getAsLong();
            if (!tooMany(builder, all, twice.getAsLong())) {
                builder.pass("pages-sound", all + " pages retired, none waiting");
            }
        }
    }

    private static boolean tooMany(FindingBuilder builder, long all, long twice) {
        Optional<Limit> most = builder.limit("retired_pages_count").filter(limit -> all >= limit.value());
        if (most.isPresent()) {
            builder.fail(
                    "retired-pages-limit",
                    "expected fewer than " + LimitText.brief(most.get()) + " retired pages, but there are " + all,
                    "run the field diagnostic: the board can be exchanged",
                    RecommendedAction.RUN_FIELDDIAG,
                    LimitText.atMost("retired_pages_count", all, most.get()));
            return true;
        }
        Optional<Limit> many = builder.limit("retired_pages_warn_count").filter(limit -> all >= limit.value());
        many.ifPresent(limit -> builder.warn(
                "retired-pages-many",
                "expected fewer than " + LimitText.brief(limit) + " retired pages, but there are " + all,
                "the board can be exchanged: plan it",
                LimitText.atMost("retired_pages_count", all, limit)));
        Optional<Limit> doubles =
                builder.limit("retired_pages_double_bit_count").filter(limit -> twice > limit.value());
        doubles.ifPresent(limit -> builder.warn(
                "retired-pages-double-bit",
                "expected at most " + LimitText.brief(limit) + " pages retired for double-bit errors, but there are "
                        + twice,
                "if it goes on at one a week, the board can be exchanged",
                LimitText.atMost("retired_pages_double_bit_count", twice, limit)));
        return many.isPresent() || doubles.isPresent();
    }
}
