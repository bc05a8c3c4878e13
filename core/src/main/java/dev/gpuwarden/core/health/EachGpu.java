package dev.gpuwarden.core.health;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** Asks the same of every GPU. Pure. */
public final class EachGpu {

    private EachGpu() {}

    /**
     * One finding for each GPU. One that does not answer is SKIPPED: the check `gpu-state` says why, and a dozen checks that
     * say it again would bury it. No GPU, no findings.
     */
    public static List<Finding> answering(NodeSnapshot node, Function<GpuSnapshot, Finding> judge) {
        return where(node, gpu -> gpu.state() == GpuState.ANSWERING, judge);
    }

    /** The same, where it depends on something else than the state whether a GPU can be asked. */
    public static List<Finding> where(
            NodeSnapshot node, Predicate<GpuSnapshot> answers, Function<GpuSnapshot, Finding> judge) {
        return node.gpus().stream()
                .map(gpu -> answers.test(gpu) ? judge.apply(gpu) : silent(gpu))
                .toList();
    }

    private static Finding silent(GpuSnapshot gpu) {
        String label = gpu.identity().label();
        return Finding.skipped(
                "gpu-not-answering",
                Subject.of(gpu.identity()),
                label + ": could not be asked, its state is "
                        + gpu.state().label().replace('_', ' ') + "; the check gpu-state says more");
    }
}
