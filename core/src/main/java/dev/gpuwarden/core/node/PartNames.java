package dev.gpuwarden.core.node;

import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Names of the node's parts for messages. Pure. */
public record PartNames(List<Gpu> gpus) {

    /**
     * A GPU of the node.
     *
     * @param label "GPU 4 (0000:89:00.0)"
     * @param names its names in events
     * @param argument what a reset takes for it; names of GPUs that can only be reset with it follow
     */
    public record Gpu(String label, Set<Entity> names, String argument) {

        /** A GPU that commands take by its UUID, else by its PCI address. */
        public Gpu(String label, Set<Entity> names) {
            this(label, names, argument(label, names));
        }

        private static String argument(String label, Set<Entity> names) {
            return names.stream()
                    .filter(Entity::namesGpu)
                    .min(Comparator.comparing(name -> name.type().equals(Entity.PCI)))
                    .map(Entity::value)
                    .orElseGet(() -> shortened(label).replaceFirst("^GPU ", ""));
        }

        /** Returns "GPU 4". */
        private static String shortened(String label) {
            return label.split(" \\(", 2)[0];
        }

        String reset() {
            return ActionText.reset(shortened(label), argument);
        }

        /** Returns the GPU with another argument. */
        public Gpu with(String argument) {
            return new Gpu(label, names, argument);
        }

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

    /** With a GPU in these states, the next program that opens the driver can find other indexes. */
    public static final Set<GpuState> UNSTABLE = EnumSet.of(GpuState.LOST, GpuState.GONE, GpuState.UNREADABLE);

    /** No part has another name than events give it. */
    public static final PartNames NONE = new PartNames(List.of());

    public PartNames {
        gpus = List.copyOf(gpus);
    }

    public static PartNames of(NodeSnapshot node) {
        List<GpuIdentity> all = node.gpus().stream().map(GpuSnapshot::identity).toList();
        boolean stable = node.gpus().stream().map(GpuSnapshot::state).noneMatch(UNSTABLE::contains);
        ResetUnits units = ResetUnitRule.units(all);
        return new PartNames(all.stream()
                .map(gpu -> Gpu.of(gpu).with(argument(gpu, all, units, stable)))
                .toList());
    }

    private static String argument(GpuIdentity gpu, List<GpuIdentity> all, ResetUnits units, boolean stable) {
        Set<String> unit = units.widened(gpu.uuid().asOptional().stream().toList());
        Stream<GpuIdentity> others = all.stream()
                .filter(other -> !other.equals(gpu))
                .filter(other ->
                        other.uuid().asOptional().filter(unit::contains).isPresent());
        return Stream.concat(Stream.of(gpu), others)
                .map(each -> stable ? Integer.toString(each.index()) : each.selector())
                .collect(Collectors.joining(" "));
    }

    /** Returns the instruction for a reset of a GPU. */
    public String reset(GpuIdentity identity) {
        return gpu(Entity.gpuIndex(identity.index()))
                .orElseGet(() -> Gpu.of(identity))
                .reset();
    }

    /** Returns the instruction for an event on this node. */
    public String advice(HealthEvent event) {
        return named(event)
                .map(gpu -> ActionText.advice(event, Optional.of(gpu.reset())))
                .orElseGet(() -> ActionText.advice(event));
    }

    /** Returns the instruction for an event of a node of a cluster: pods leave first, and a reset runs on the node. */
    public String adviceOn(String node, HealthEvent event) {
        boolean reset = event.action() == RecommendedAction.COMPONENT_RESET
                && event.strategy().actedOn();
        if (!reset || event.entities().stream().noneMatch(Entity::namesGpu)) {
            return advice(event);
        }
        String gpu = Stream.concat(
                        event.entities().stream(), named(event).stream().flatMap(g -> g.names().stream()))
                .filter(entity -> entity.type().equals(Entity.GPU_UUID))
                .map(entity -> " --gpu " + entity.value())
                .findFirst()
                .orElse("");
        return "gpuwarden drain " + node + gpu + ", then on " + node + ": " + advice(event);
    }

    private Optional<Gpu> named(HealthEvent event) {
        return event.entities().stream().flatMap(entity -> gpu(entity).stream()).findFirst();
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
