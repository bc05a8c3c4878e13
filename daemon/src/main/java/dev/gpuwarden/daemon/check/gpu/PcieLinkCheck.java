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
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
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
public final class PcieLinkCheck implements HealthCheck {

    /** Gbit/s per lane and generation, line coding deducted (PCI-SIG; generation 6 and 7 approximately). */
    private static final double[] LANE_RATE = {0, 2.0, 4.0, 7.877, 15.754, 31.508, 60.5, 121};

    private static final long IDLE = 0x1;
    private static final long FASTEST_STATES = 2;

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-pcie-link", "GPU", "PCIe links run at their full generation and with all lanes.")
                .damped(3, 4);
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return EachGpu.answering(context.node(), gpu -> evaluate(gpu, context.node(), context.limits()));
    }

    static Finding evaluate(GpuSnapshot gpu, NodeSnapshot node, Limits limits) {
        FindingBuilder builder = new FindingBuilder(gpu);
        OptionalLong lanes = builder.read(GpuMetric.PCIE_WIDTH);
        OptionalLong generation = builder.read(GpuMetric.PCIE_GENERATION);
        OptionalLong newest = builder.read(GpuMetric.PCIE_GENERATION_MAX);
        if (lanes.isEmpty() || generation.isEmpty() || newest.isEmpty()) {
            return builder.finding();
        }
        Want wantLanes = lanes(gpu, node, limits, lanes.getAsLong());
        Want wantGeneration = generation(gpu, limits, newest.getAsLong());
        boolean narrow = lanes.getAsLong() < wantLanes.value();
        boolean slow = generation.getAsLong() < wantGeneration.value();
        if (slow && !working(gpu.frame())) {
            builder.skip(
                    "pcie-link-idle",
                    "generation " + generation.getAsLong() + " of " + wantGeneration.value()
                            + ", as usual for an idle GPU; evaluated while the GPU works");
            slow = false;
        }
        if (narrow || slow) {
            reduced(
                    builder,
                    limits,
                    gpu,
                    new Link(lanes.getAsLong(), generation.getAsLong()),
                    wantLanes,
                    wantGeneration,
                    slow);
        } else if (generation.getAsLong() >= wantGeneration.value()) {
            builder.pass(
                    "pcie-link-full", "generation " + generation.getAsLong() + " with " + lanes.getAsLong() + " lanes");
        }
        return builder.finding();
    }

    /** An expected value and its source. */
    private record Want(long value, String source) {}

    private record Link(long lanes, long generation) {
        double rate() {
            return lanes * LANE_RATE[(int) Math.min(generation, LANE_RATE.length - 1)];
        }
    }

    private static void reduced(
            FindingBuilder builder,
            Limits limits,
            GpuSnapshot gpu,
            Link is,
            Want lanes,
            Want generation,
            boolean slow) {
        Link should = new Link(Math.max(is.lanes(), lanes.value()), slow ? generation.value() : is.generation());
        double share = should.rate() == 0 ? 1 : is.rate() / should.rate();
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
        boolean crippled = limits.of("pcie_bandwidth_fail_share", gpu.identity())
                .filter(limit -> share <= limit.value() + 1e-9)
                .isPresent();
        if (crippled) {
            builder.fail("pcie-link-crippled", text, remedy, RecommendedAction.CONTACT_SUPPORT, evidence);
        } else {
            boolean narrow = is.lanes() < lanes.value();
            builder.warn(narrow ? "pcie-width-reduced" : "pcie-generation-reduced", text, remedy, evidence);
        }
    }

    private static Want lanes(GpuSnapshot gpu, NodeSnapshot node, Limits limits, long now) {
        GpuFrame frame = gpu.frame();
        long most = frame.present(GpuMetric.PCIE_WIDTH_MAX) ? frame.raw(GpuMetric.PCIE_WIDTH_MAX) : Long.MAX_VALUE;
        return limits.of("pcie_width_lanes", gpu.identity())
                .map(limit -> new Want(Math.min(most, (long) limit.value()), limit.source()))
                .orElseGet(() -> new Want(
                        PeerGpus.like(gpu, node).stream()
                                .filter(other -> other.frame().present(GpuMetric.PCIE_WIDTH))
                                .mapToLong(other -> other.frame().raw(GpuMetric.PCIE_WIDTH))
                                .max()
                                .orElse(now),
                        "another of the same boards"));
    }

    private static Want generation(GpuSnapshot gpu, Limits limits, long newest) {
        return limits.of("pcie_generation", gpu.identity())
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
