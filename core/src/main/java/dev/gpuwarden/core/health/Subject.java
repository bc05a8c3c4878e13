package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.GpuIdentity;
import java.util.ArrayList;
import java.util.List;

/**
 * The subject of a finding.
 *
 * @param label a GPU's UUID, a PCI address, a port, or "node"
 * @param entities the same subject for programs; empty for the node as a whole
 */
public record Subject(String label, List<Entity> entities) {

    public static final Subject NODE = new Subject("node", List.of());

    public Subject {
        entities = List.copyOf(entities);
    }

    /**
     * Returns a GPU under all its known names. A GPU without address and UUID has the driver's index: without a name it
     * would be the whole node.
     */
    public static Subject of(GpuIdentity gpu) {
        List<Entity> names = new ArrayList<>(2);
        gpu.pci().asOptional().map(Entity::pci).ifPresent(names::add);
        gpu.uuid().asOptional().map(Entity::gpu).ifPresent(names::add);
        if (names.isEmpty()) {
            names.add(Entity.gpuIndex(gpu.index()));
        }
        return new Subject(gpu.label(), names);
    }

    public static Subject of(Entity part) {
        return new Subject(part.value(), List.of(part));
    }
}
