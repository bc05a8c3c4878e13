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

/** A lookup of the current holders of this node's GPUs. Thread-safe. */
public final class GpuHolderLookup implements Supplier<Reading<GpuHolders>> {

    private final KubeletPods kubelet;
    private final Supplier<NodeSnapshot> node;
    private final Clock clock;

    /** @param node returns the GPUs; must not call the driver */
    public GpuHolderLookup(NodePaths paths, Supplier<NodeSnapshot> node, Clock clock) {
        this.kubelet = new KubeletPods(paths.podResources());
        this.node = node;
        this.clock = clock;
    }

    /** Blocks until the kubelet has answered, for two seconds at most. */
    @Override
    public Reading<GpuHolders> get() {
        // Taken before the request: a pod that received a GPU later may be missing.
        Instant asOf = clock.instant();
        List<GpuIdentity> gpus =
                node.get().gpus().stream().map(GpuSnapshot::identity).toList();
        return kubelet.list().map(response -> GpuHolderResolver.of(response, gpus, asOf));
    }
}
