package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A limit on the rate of PCIe packets that must be sent again (DCGM 3, whose health watch warns at it). A high rate
 * shows a failing link long before the link fails.
 */
@AutoService(HealthCheck.class)
public final class PcieReplaysCheck extends GpuCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-pcie-replays", "GPU", "Few PCIe packets must be sent again.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong replays = builder.read(GpuMetric.PCIE_REPLAYS);
        Optional<Limit> limit = builder.limit("pcie_replays_per_minute");
        if (replays.isPresent() && replays.getAsLong() == 0) {
            builder.pass("pcie-replays-few", "no packet was sent again since the driver was loaded");
        } else if (replays.isPresent() && limit.isPresent()) {
            builder.perMinute(GpuMetric.PCIE_REPLAYS, limit.get(), "rate of PCIe replays")
                    .ifPresent(rate -> evaluate(builder, rate, limit.get()));
        }
    }

    private static void evaluate(FindingBuilder builder, double rate, Limit limit) {
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
