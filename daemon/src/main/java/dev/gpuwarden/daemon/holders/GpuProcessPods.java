package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.process.OpenFiles;
import dev.gpuwarden.daemon.process.ProcessOwners;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The pods whose processes have a GPU open, by the files of the processes. The kubelet does not list a pod that got the GPU without a
 * request, and a reset fails for it. A process is left out if it cannot be read, or if the node does not name its pod. Thread-safe.
 */
public final class GpuProcessPods implements Supplier<List<ProcessHolder>> {

    private final Supplier<NodeSnapshot> node;
    private final ProcessOwners owners;
    private final Path devices;

    /**
     * @param node returns the GPUs; must not call the driver
     * @param owners used by this object alone
     * @param devices the node's /dev
     */
    public GpuProcessPods(Supplier<NodeSnapshot> node, ProcessOwners owners, Path devices) {
        this.node = node;
        this.owners = owners;
        this.devices = devices;
    }

    /** Reads /proc of each process of the node. */
    @Override
    public List<ProcessHolder> get() {
        Map<Path, String> gpus = new HashMap<>();
        for (GpuSnapshot gpu : node.get().gpus()) {
            gpu.identity()
                    .minor()
                    .asOptional()
                    .map(minor -> devices.resolve("nvidia" + minor))
                    .filter(Files::exists)
                    .ifPresent(file -> gpu.identity().uuid().asOptional().ifPresent(uuid -> gpus.put(file, uuid)));
        }
        Map<Integer, Set<Path>> files =
                OpenFiles.filesByHolder(gpus.keySet()).asOptional().orElse(Map.of());
        Map<Integer, Long> asked = new HashMap<>();
        files.keySet().forEach(pid -> asked.put(pid, 0L));
        Map<Integer, ProcessFacts> facts = owners.lookUp(asked);
        Set<ProcessHolder> found = new LinkedHashSet<>();
        files.forEach((pid, open) -> {
            ProcessFacts known = facts.get(pid);
            if (known != null && known.owner() instanceof Owner.Pod pod) {
                open.forEach(file -> holder(pod, gpus.getOrDefault(file, "")).ifPresent(found::add));
            }
        });
        return new ArrayList<>(found);
    }

    private static Optional<ProcessHolder> holder(Owner.Pod pod, String gpu) {
        return pod.namespace()
                .asOptional()
                .flatMap(namespace -> pod.name()
                        .asOptional()
                        .map(name -> new ProcessHolder(
                                namespace, name, pod.container().asOptional().orElse(""), gpu)));
    }
}
