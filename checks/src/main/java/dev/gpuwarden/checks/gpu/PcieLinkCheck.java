package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * A comparison of generation and lanes of each GPU's PCIe link with what is possible (DCGM 45 and 46).
 *
 * <p>An idle GPU lowers the generation to save power. So the generation is evaluated only while the GPU works; a slow
 * link of an idle GPU is SKIPPED, which neither raises nor clears a fault. The number of lanes does not change. The
 * expected number is the limit of the board or of the user, otherwise the highest of the same boards on this node.
 * NVML's "maximum" is the GPU's own even in a slot with half the lanes (L4, 550.90.07).
 */
@AutoService(HealthCheck.class)
public final class PcieLinkCheck extends GpuCheck {

    private static final long IDLE = 0x1;
    private static final long FASTEST_STATES = 2;

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-pcie-link", "GPU", "PCIe links run at their full generation and with all lanes.")
                .damped(3, 4);
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong lanes = builder.read(GpuMetric.PCIE_WIDTH);
        OptionalLong generation = builder.read(GpuMetric.PCIE_GENERATION);
        OptionalLong newest = builder.read(GpuMetric.PCIE_GENERATION_MAX);
        if (lanes.isEmpty() || generation.isEmpty() || newest.isEmpty()) {
            return;
        }
        Want wantLanes = lanes(builder, lanes.getAsLong());
        Want wantGeneration = generation(builder, newest.getAsLong());
        boolean narrow = lanes.getAsLong() < wantLanes.value();
        boolean slow = generation.getAsLong() < wantGeneration.value();
        if (slow && !working(builder.frame())) {
            builder.skip(
                    "pcie-link-idle",
                    "generation " + generation.getAsLong() + " of " + wantGeneration.value()
                            + ", as usual for an idle GPU; evaluated while the GPU works");
            slow = false;
        }
        if (narrow || slow) {
            reduced(builder, new PcieLink(lanes.getAsLong(), generation.getAsLong()), wantLanes, wantGeneration, slow);
        } else if (generation.getAsLong() >= wantGeneration.value()) {
            builder.pass(
                    "pcie-link-full", "generation " + generation.getAsLong() + " with " + lanes.getAsLong() + " lanes");
        }
    }

    /** An expected value and its source. */
    record Want(long value, String source) {}

    private static void reduced(FindingBuilder builder, PcieLink is, Want lanes, Want generation, boolean slow) {
        PcieLink should =
                new PcieLink(Math.max(is.lanes(), lanes.value()), slow ? generation.value() : is.generation());
        double share = should.gigabits() == 0 ? 1 : is.gigabits() / should.gigabits();
        String text = "expected generation " + should.generation() + " with " + should.lanes() + " lanes ("
                + (slow ? generation.source() : lanes.source()) + "), but the link has generation "
                + is.generation() + " with " + is.lanes() + " lanes, " + LimitText.percent(share) + " of the rate";
        String remedy = "reseat the board and check riser, slot and BIOS settings; a reset may train the link again";
        Measurement[] evidence = {
            new Measurement("pcie_width_lanes", is.lanes(), "at least " + lanes.value() + " (" + lanes.source() + ")"),
            new Measurement(
                    "pcie_generation",
                    is.generation(),
                    slow ? "at least " + generation.value() + " (" + generation.source() + ")" : "")
        };
        boolean crippled = builder.limit("pcie_bandwidth_fail_share")
                .filter(limit -> share <= limit.value() + 1e-9)
                .isPresent();
        if (crippled) {
            builder.fail("pcie-link-crippled", text, remedy, RecommendedAction.CONTACT_SUPPORT, evidence);
        } else {
            boolean narrow = is.lanes() < lanes.value();
            builder.warn(narrow ? "pcie-width-reduced" : "pcie-generation-reduced", text, remedy, evidence);
        }
    }

    /** Returns the lanes that the link should have: by a limit, or as many as another of the same boards uses. */
    static Want lanes(FindingBuilder builder, long now) {
        long most = builder.raw(GpuMetric.PCIE_WIDTH_MAX, Long.MAX_VALUE);
        return builder.limit("pcie_width_lanes")
                .map(limit -> new Want(Math.min(most, (long) limit.value()), limit.source()))
                .orElseGet(() -> new Want(
                        builder.peers().stream()
                                .filter(other -> other.frame().present(GpuMetric.PCIE_WIDTH))
                                .mapToLong(other -> other.frame().raw(GpuMetric.PCIE_WIDTH))
                                .max()
                                .orElse(now),
                        "another of the same boards"));
    }

    private static Want generation(FindingBuilder builder, long newest) {
        return builder.limit("pcie_generation")
                .filter(limit -> limit.value() < newest)
                .map(limit -> new Want((long) limit.value(), limit.source()))
                .orElse(new Want(newest, "the maximum of GPU and slot"));
    }

    /** Returns whether the GPU has work. Every reading that could contradict it must confirm it. */
    private static boolean working(GpuFrame frame) {
        List<Boolean> signs = new ArrayList<>();
        if (frame.present(GpuMetric.PERFORMANCE_STATE)) {
            signs.add(frame.raw(GpuMetric.PERFORMANCE_STATE) <= FASTEST_STATES);
        }
        if (frame.present(GpuMetric.UTILIZATION_GPU)) {
            signs.add(frame.raw(GpuMetric.UTILIZATION_GPU) > 0);
        }
        if (frame.present(GpuMetric.CLOCK_EVENT_REASONS)) {
            signs.add((frame.raw(GpuMetric.CLOCK_EVENT_REASONS) & IDLE) == 0);
        }
        return !signs.isEmpty() && !signs.contains(false);
    }
}
