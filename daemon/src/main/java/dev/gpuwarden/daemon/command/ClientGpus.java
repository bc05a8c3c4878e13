package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuState;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.ListGpusRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.PartNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The daemon's GPUs by all of their names: events use UUID and PCI address, users also the index. */
record ClientGpus(List<Gpu> gpus) {

    /** The states of {@link PartNames#UNSTABLE}. */
    private static final Set<GpuState> UNSTABLE =
            Set.of(GpuState.GPU_STATE_LOST, GpuState.GPU_STATE_GONE, GpuState.GPU_STATE_UNREADABLE);

    static ClientGpus ask(NodeServiceBlockingStub daemon) {
        return new ClientGpus(daemon.listGpus(ListGpusRequest.newBuilder()
                        .setView(GpuView.GPU_VIEW_BASIC)
                        .build())
                .getGpusList());
    }

    /**
     * Returns the names of a GPU in events.
     *
     * @param name a UUID, a PCI address or an index; one of the first two for a GPU that is no longer listed
     */
    List<Entity> named(String name) {
        Optional<PciAddress> address = PciAddress.parse(name);
        for (Gpu gpu : gpus) {
            if (Identifiers.gpu(gpu.getUuid().getValue()).equals(Identifiers.gpu(name))
                    || address.isPresent()
                            && PciAddress.parse(gpu.getPciAddress().getValue()).equals(address)
                    || Integer.toString(gpu.getIndex()).equals(name)) {
                return names(gpu);
            }
        }
        if (address.isPresent()) {
            return List.of(Entity.pci(address.get()));
        }
        if (Identifiers.gpu(name).startsWith("GPU-")) {
            return List.of(Entity.gpu(name));
        }
        throw new UserError("--gpu: unknown GPU '" + name + "'; expected an index"
                + (gpus.isEmpty() ? "" : " of 0 to " + (gpus.size() - 1)) + ", a UUID or a PCI address");
    }

    /**
     * Returns the names of a GPU, never none, which would mean every GPU. A GPU without names gets the name that checks
     * use.
     */
    private static List<Entity> names(Gpu gpu) {
        List<Entity> names = new ArrayList<>();
        if (gpu.getUuid().hasValue()) {
            names.add(Entity.gpu(gpu.getUuid().getValue()));
        }
        PciAddress.parse(gpu.getPciAddress().getValue()).map(Entity::pci).ifPresent(names::add);
        return names.isEmpty() ? List.of(Entity.gpuIndex(gpu.getIndex())) : names;
    }

    /** Returns "GPU 3 (0000:5b:00.0)" with any other named parts; a GPU that is not listed keeps its own name. */
    String subject(List<Entity> entities) {
        return parts().of(entities);
    }

    /** Returns the display names of this node's parts. */
    PartNames parts() {
        boolean stable = gpus.stream().map(Gpu::getState).noneMatch(UNSTABLE::contains);
        return new PartNames(gpus.stream()
                .map(gpu -> {
                    PartNames.Gpu named = new PartNames.Gpu(label(gpu), Set.copyOf(names(gpu)));
                    return stable ? named.with(Integer.toString(gpu.getIndex())) : named;
                })
                .toList());
    }

    static String label(Gpu gpu) {
        String name = gpu.getPciAddress().hasValue()
                ? gpu.getPciAddress().getValue()
                : gpu.getUuid().getValue();
        return "GPU " + gpu.getIndex() + (name.isEmpty() ? "" : " (" + name + ")");
    }
}
