package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What was last seen of checks and GPUs, to find what is new. */
record NodeWatch(List<CheckResult> results, List<GpuSnapshot> gpus) {

    static final NodeWatch NOTHING = new NodeWatch(List.of(), List.of());

    static NodeWatch of(NodeSources sources) {
        return new NodeWatch(sources.checks().results(), sources.node().get().gpus());
    }

    /** Results of runs that ended since then. */
    List<CheckResult> newResults(NodeWatch before) {
        Map<String, Instant> known = new HashMap<>();
        before.results.forEach(result -> known.put(result.check().id(), result.at()));
        return results.stream()
                .filter(result -> !result.at().equals(known.get(result.check().id())))
                .toList();
    }

    private record Face(GpuIdentity identity, GpuState state, String detail) {
        static Face of(GpuSnapshot gpu) {
            return new Face(gpu.identity(), gpu.state(), gpu.detail());
        }
    }

    /** GPUs that are new, or whose identity or state is another one. */
    List<GpuSnapshot> changedGpus(NodeWatch before) {
        List<Face> known = before.gpus.stream().map(Face::of).toList();
        return gpus.stream().filter(gpu -> !known.contains(Face.of(gpu))).toList();
    }
}
