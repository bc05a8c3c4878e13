package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.ResetUnitRule;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The GPUs of this server, by UUID in the driver's spelling. A fault may name others: of a board that was replaced, or of another server.
 *
 * @param listed GPUs that the driver lists now, which alone can be reset
 * @param known those and the ones that it listed before, with their MIG devices; a GPU that fell off the bus is one of them
 * @param nameless addresses of GPUs on the bus of which no UUID is known, as of one that was lost before the first start
 * @param units GPUs that can only be reset together
 */
record ServerGpus(Set<String> listed, Set<String> known, Set<Entity> nameless, ResetUnits units) {

    ServerGpus {
        listed = Set.copyOf(listed);
        known = Set.copyOf(known);
        nameless = Set.copyOf(nameless);
    }

    /** @param before the GPUs that the driver listed at any time, also before a restart */
    static ServerGpus of(NodeSnapshot node, KnownGpus before) {
        List<GpuIdentity> gpus = node.gpus().stream().map(GpuSnapshot::identity).toList();
        Set<PciAddress> nameless = new HashSet<>(node.pciGpus().asOptional().orElse(List.of()));
        Set<String> listed = new HashSet<>();
        Set<String> known = new HashSet<>();
        for (GpuIdentity gpu : gpus) {
            gpu.uuid().asOptional().map(ServerGpus::canonical).ifPresent(uuid -> {
                listed.add(uuid);
                gpu.pci().asOptional().ifPresent(nameless::remove);
            });
            gpu.mig().forEach(device -> known.add(canonical(device.uuid())));
        }
        known.addAll(listed);
        before.gpus().forEach(gpu -> {
            known.add(canonical(gpu.uuid()));
            nameless.remove(gpu.pci());
        });
        return new ServerGpus(
                listed,
                known,
                nameless.stream().map(Entity::pci).collect(Collectors.toSet()),
                ResetUnitRule.units(gpus));
    }

    private static String canonical(String uuid) {
        return Entity.gpu(uuid).value();
    }

    /** Returns those of the names that are no GPU of this server. */
    Set<String> unknown(Collection<String> names) {
        Set<String> unknown = new TreeSet<>(names);
        unknown.removeAll(known);
        return unknown;
    }

    /** Returns all GPUs of the one reset that reaches these; empty if they are of several units, or one is unknown. */
    Optional<Set<String>> reset(Collection<String> names) {
        return unknown(names).isEmpty() && names.stream().allMatch(name -> name.startsWith("GPU-"))
                ? units.common(names).map(Set::copyOf)
                : Optional.empty();
    }
}
