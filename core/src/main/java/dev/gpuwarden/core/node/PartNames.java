package dev.gpuwarden.core.node;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What people call the parts of a node that events name. Pure. */
public record PartNames(List<Gpu> gpus) {

    /**
     * A GPU of the node.
     *
     * @param label "GPU 4 (0000:89:00.0)"
     * @param names what events call it
     */
    public record Gpu(String label, Set<Entity> names) {

        public static Gpu of(GpuIdentity identity) {
            Set<Entity> names = new LinkedHashSet<>();
            names.add(Entity.gpuIndex(identity.index()));
            identity.pci().asOptional().map(Entity::pci).ifPresent(names::add);
            identity.uuid().asOptional().map(Entity::gpu).ifPresent(names::add);
            return new Gpu(identity.label(), names);
        }
    }

    public static PartNames of(NodeSnapshot node) {
        return new PartNames(
                node.gpus().stream().map(GpuSnapshot::identity).map(Gpu::of).toList());
    }

    /** Each part once; a GPU that is not of the node by the name that the event has, and the node itself where none is named. */
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

    private Optional<Gpu> gpu(Entity entity) {
        return gpus.stream().filter(gpu -> gpu.names().contains(entity)).findFirst();
    }
}
