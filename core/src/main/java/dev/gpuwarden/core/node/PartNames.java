package dev.gpuwarden.core.node;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Names of the node's parts for messages. Pure. */
public record PartNames(List<Gpu> gpus) {

    /**
     * A GPU of the node.
     *
     * @param label "GPU 4 (0000:89:00.0)"
     * @param names its names in events
     */
    public record Gpu(String label, Set<Entity> names) {

        public static Gpu of(GpuIdentity identity) {
            return of(
                    identity.index(),
                    identity.pci().asOptional(),
                    identity.uuid().asOptional());
        }

        /** A GPU that reports its index, and the other two unless they are empty. */
        public static Gpu of(int index, Optional<PciAddress> pci, Optional<String> uuid) {
            Set<Entity> names = new LinkedHashSet<>();
            names.add(Entity.gpuIndex(index));
            pci.map(Entity::pci).ifPresent(names::add);
            uuid.map(Entity::gpu).ifPresent(names::add);
            return new Gpu(GpuIdentity.label(index, pci, uuid), names);
        }
    }

    /** No part has another name than events give it. */
    public static final PartNames NONE = new PartNames(List.of());

    public PartNames {
        gpus = List.copyOf(gpus);
    }

    public static PartNames of(NodeSnapshot node) {
        return new PartNames(
                node.gpus().stream().map(GpuSnapshot::identity).map(Gpu::of).toList());
    }

    /**
     * Returns the names, each part once. A GPU that is not on the node keeps the event's name, and an event without
     * entities names the node.
     */
    public String of(List<Entity> entities) {
        if (entities.isEmpty()) {
            return "node";
        }
        boolean listed = entities.stream().anyMatch(entity -> gpu(entity).isPresent());
        LinkedHashSet<String> words = new LinkedHashSet<>();
        for (Entity entity : entities) {
            Optional<Gpu> gpu = gpu(entity);
            if (gpu.isPresent()) {
                words.add(gpu.get().label());
            } else if (!entity.namesGpu()) {
                words.add(entity.type() + " " + entity.value());
            } else if (!listed) {
                words.add(entity.value());
            }
        }
        return String.join(", ", words);
    }

    /** The GPU that an event calls so; empty where it is none of these. */
    public Optional<Gpu> gpu(Entity entity) {
        return gpus.stream().filter(gpu -> gpu.names().contains(entity)).findFirst();
    }
}
