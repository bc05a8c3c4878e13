package dev.gpuwarden.daemon.check.gpu;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;

/** The other GPUs of a node with the same product name. They have the same capabilities. */
final class PeerGpus {

    private PeerGpus() {}

    /** Returns the GPUs of the same name that answer, without this one. */
    static List<GpuSnapshot> like(GpuSnapshot gpu, NodeSnapshot node) {
        if (!(gpu.identity().name() instanceof Reading.Present<String>)) {
            return List.of();
        }
        return node.gpus().stream()
                .filter(other -> other != gpu
                        && other.state() == GpuState.ANSWERING
                        && other.identity().name().equals(gpu.identity().name()))
                .toList();
    }
}
