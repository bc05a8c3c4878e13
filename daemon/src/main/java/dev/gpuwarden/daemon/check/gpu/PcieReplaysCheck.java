package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A limit on the rate of PCIe packets that must be sent again (DCGM 3, whose health watch warns at it). A high rate
 * shows a failing link long before the link fails.
 */
@AutoService(HealthCheck.class)
public final class PcieReplaysCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-pcie-replays", "GPU", "Few PCIe packets must be sent again.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return EachGpu.answering(
                context.node(), gpu -> evaluate(gpu, context.history(gpu.identity()), context.limits()));
    }

    static Finding evaluate(GpuSnapshot gpu, GpuHistory history, Limits limits) {
        FindingBuilder builder = new FindingBuilder(gpu);
        OptionalLong replays = builder.read(GpuMetric.PCIE_REPLAYS);
        Optional<Limits.Limit> limit = limits.of("pcie_replays_per_minute", gpu.identity());
        if (replays.isPresent() && replays.getAsLong() == 0) {
            builder.pass("pcie-replays-few", "no packet was sent again since the driver was loaded");
        } else if (replays.isPresent() && limit.isPresent()) {
            builder.over(
                            Rate.perMinute(
                                    window -> history.increase(GpuMetric.PCIE_REPLAYS, window),
                                    limit.get().value()),
                            "rate of PCIe replays")
                    .ifPresent(rate -> evaluate(builder, rate, limit.get()));
        }
        return builder.finding();
    }

    private static void evaluate(FindingBuilder builder, double rate, Limits.Limit limit) {
        String seen = LimitText.number(rate);
        if (rate > limit.value()) {
            builder.warn(
                    "pcie-replays-many",
                    "expected at most " + LimitText.brief(limit) + " PCIe replays a minute, but there were " + seen,
                    "reseat the board and check riser and slot; more packets sent again mean less bandwidth",
                    LimitText.atMost("pcie_replays_per_minute", rate, limit));
        } else {
            builder.pass("pcie-replays-few", seen + " PCIe replays a minute");
        }
    }
}
