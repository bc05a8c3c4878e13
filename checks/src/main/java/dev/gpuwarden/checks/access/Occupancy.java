package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rule for free GPUs: no pod and no other process holds one. Pure. A GPU of unknown holders is not free. */
final class Occupancy {

    static final String HELD = "gpu-held";
    static final String UNKNOWN = "holder-unknown";

    private static final int MOST_NAMES = 3;

    private Occupancy() {}

    /**
     * Returns why the GPU is not free; empty if it is.
     *
     * @param pods the pods that hold GPUs
     * @param own whether a process is the caller's own
     * @param names returns the name of a process for operators
     */
    static Optional<Refusal> of(
            GpuSnapshot gpu, Reading<GpuHolders> pods, IntPredicate own, IntFunction<String> names) {
        if (gpu.state() != GpuState.ANSWERING) {
            return unknown("the GPU is " + gpu.state().label());
        }
        if (gpu.processes() instanceof Reading.Absent<?> absent) {
            return unknown("its processes could not be listed: " + absent.text());
        }
        List<GpuProcess> others = gpu.processes().asOptional().orElse(List.of()).stream()
                .filter(process -> !own.test(process.pid()))
                .toList();
        if (!others.isEmpty()) {
            return held(others.size(), others.stream().map(process -> names.apply(process.pid())));
        }
        if (pods instanceof Reading.Absent<?> absent) {
            return unknown("its pods could not be listed: " + absent.text());
        }
        GpuHolders holders = pods.asOptional().orElseThrow();
        List<String> onGpu = holders.podsOf(gpu.identity().selector()).stream()
                .map(pod -> "pod " + pod)
                .toList();
        if (!onGpu.isEmpty()) {
            return held(onGpu.size(), onGpu.stream());
        }
        return holders.complete()
                ? Optional.empty()
                : unknown("the kubelet lists devices of pods that could not be resolved to a GPU, the first: "
                        + holders.unresolved().stream()
                                .findFirst()
                                .map(device -> device.deviceId() + " of " + device.namespace() + "/" + device.pod())
                                .orElse("one without room in the list"));
    }

    private static Optional<Refusal> held(int count, Stream<String> names) {
        String first = names.limit(MOST_NAMES).collect(Collectors.joining(", "));
        String more = count <= MOST_NAMES ? "" : " and " + (count - MOST_NAMES) + " more";
        return Optional.of(new Refusal(HELD, "the GPU is not free, held by " + first + more));
    }

    private static Optional<Refusal> unknown(String why) {
        return Optional.of(new Refusal(UNKNOWN, "it is not known whether the GPU is free: " + why));
    }
}
