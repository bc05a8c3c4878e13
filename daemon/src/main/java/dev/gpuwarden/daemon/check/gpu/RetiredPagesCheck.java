package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.OptionalLong;

/**
 * Retired pages of boards before Ampere (NVIDIA, Dynamic Page Retirement). Pending pages are retired when the driver is
 * loaded again (DCGM 6, RESET). Too many of them make a case for replacement, which the field diagnostic decides (DCGM
 * 7, ISOLATE).
 */
@AutoService(HealthCheck.class)
public final class RetiredPagesCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-retired-pages", "GPU", "No page is pending retirement, and few were retired.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return EachGpu.answering(context.node(), gpu -> evaluate(gpu, context.limits()));
    }

    static Finding evaluate(GpuSnapshot gpu, Limits limits) {
        FindingBuilder builder = new FindingBuilder(gpu);
        OptionalLong pending = builder.read(GpuMetric.RETIRED_PAGES_PENDING);
        if (pending.isPresent() && pending.getAsLong() == 1) {
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
            if (!tooMany(builder, gpu, limits, all, twice.getAsLong())) {
                builder.pass("pages-sound", all + " pages retired, none waiting");
            }
        }
        return builder.finding();
    }

    private static boolean tooMany(FindingBuilder builder, GpuSnapshot gpu, Limits limits, long all, long twice) {
        var most = limits.of("retired_pages_count", gpu.identity()).filter(limit -> all >= limit.value());
        if (most.isPresent()) {
            builder.fail(
                    "retired-pages-limit",
                    "expected fewer than " + LimitText.brief(most.get()) + " retired pages, but there are " + all,
                    "run the field diagnostic: the board can be exchanged",
                    RecommendedAction.RUN_FIELDDIAG,
                    LimitText.atMost("retired_pages_count", all, most.get()));
            return true;
        }
        var many = limits.of("retired_pages_warn_count", gpu.identity()).filter(limit -> all >= limit.value());
        many.ifPresent(limit -> builder.warn(
                "retired-pages-many",
                "expected fewer than " + LimitText.brief(limit) + " retired pages, but there are " + all,
                "the board can be exchanged: plan it",
                LimitText.atMost("retired_pages_count", all, limit)));
        var doubles =
                limits.of("retired_pages_double_bit_count", gpu.identity()).filter(limit -> twice > limit.value());
        doubles.ifPresent(limit -> builder.warn(
                "retired-pages-double-bit",
                "expected at most " + LimitText.brief(limit) + " pages retired for double-bit errors, but there are "
                        + twice,
                "if it goes on at one a week, the board can be exchanged",
                LimitText.atMost("retired_pages_double_bit_count", twice, limit)));
        return many.isPresent() || doubles.isPresent();
    }
}
