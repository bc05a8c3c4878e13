package dev.gpuwarden.core.health;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** A check that runs for every GPU. Pure. */
public final class EachGpu {

    private EachGpu() {}

    /**
     * Returns one finding for each GPU; none without GPUs. A GPU that does not answer is SKIPPED: the check `gpu-state`
     * reports it, and a dozen repetitions would hide that report.
     */
    public static List<Finding> answering(NodeSnapshot node, Function<GpuSnapshot, Finding> judge) {
        return where(node, gpu -> gpu.state() == GpuState.ANSWERING, judge);
    }

    /** Returns the same findings, where another condition than the GPU's state decides whether it can be checked. */
    public static List<Finding> where(
            NodeSnapshot node, Predicate<GpuSnapshot> answers, Function<GpuSnapshot, Finding> judge) {
        return node.gpus().stream()
                .map(gpu -> answers.test(gpu) ? judge.apply(gpu) : silent(gpu))
                .toList();
    }

    static Finding silent(GpuSnapshot gpu) {
        String label = gpu.identity().label();
        return Finding.skipped(
                "gpu-not-answering",
                Subject.of(gpu.identity()),
                label + ": could not be read, its state is "
                        + gpu.state().label().replace('_', ' ') + "; see the check gpu-state");
    }
}
