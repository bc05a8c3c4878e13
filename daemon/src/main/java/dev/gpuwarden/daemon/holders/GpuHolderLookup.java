package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.node.NodePaths;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

/** Looks who holds this node's GPUs now. Thread-safe. */
public final class GpuHolderLookup implements Supplier<Reading<GpuHolders>> {

    private final KubeletPods kubelet;
    private final Supplier<NodeSnapshot> node;
    private final Clock clock;

    /** @param node the GPUs; is not to wait for the driver */
    public GpuHolderLookup(NodePaths paths, Supplier<NodeSnapshot> node, Clock clock) {
        this.kubelet = new KubeletPods(paths.podResources());
        this.node = node;
        this.clock = clock;
    }

    /** Blocks until the kubelet has answered, for two seconds at most. */
    @Override
    public Reading<GpuHolders> get() {
        // Before the question: whoever was given a GPU after this may be missing.
        Instant asOf = clock.instant();
        List<GpuIdentity> gpus =
                node.get().gpus().stream().map(GpuSnapshot::identity).toList();
        return kubelet.list().map(told -> GpuHolderResolver.of(told, gpus, asOf));
    }
}
