package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.ListGpusRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.PartNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The daemon's GPUs by all of their names: events know them by UUID and PCI address, people by index too. */
record ClientGpus(List<Gpu> gpus) {

    static ClientGpus ask(NodeServiceBlockingStub daemon) {
        return new ClientGpus(daemon.listGpus(ListGpusRequest.newBuilder()
                        .setView(GpuView.GPU_VIEW_BASIC)
                        .build())
                .getGpusList());
    }

    /**
     * What events call the GPU that a person names.
     *
     * @param name a UUID, a PCI address or an index; of a GPU that is not listed any more one of the first two
     */
    List<Entity> named(String name) {
        Optional<PciAddress> address = PciAddress.parse(name);
        for (Gpu gpu : gpus) {
            if (gpu.getUuid().getValue().equalsIgnoreCase(name)
                    || address.isPresent()
                            && PciAddress.parse(gpu.getPciAddress().getValue()).equals(address)
                    || Integer.toString(gpu.getIndex()).equals(name)) {
                return names(gpu);
            }
        }
        if (address.isPresent()) {
            return List.of(Entity.pci(address.get()));
        }
        if (name.regionMatches(true, 0, "GPU-", 0, 4)) {
            return List.of(Entity.gpu(name).canonical());
        }
        throw new UserError("--gpu: no GPU is called '" + name + "'; expected an index"
                + (gpus.isEmpty() ? "" : " of 0 to " + (gpus.size() - 1)) + ", a UUID or a PCI address");
    }

    /** Never none, which would mean every GPU: of one that reports no name, as checks call it. */
    private static List<Entity> names(Gpu gpu) {
        List<Entity> names = new ArrayList<>();
        if (gpu.getUuid().hasValue()) {
            names.add(Entity.gpu(gpu.getUuid().getValue()));
        }
        PciAddress.parse(gpu.getPciAddress().getValue()).map(Entity::pci).ifPresent(names::add);
        return names.isEmpty() ? List.of(Entity.gpuIndex(gpu.getIndex())) : names;
    }

    /** "GPU 3 (0000:5b:00.0)", with what else is named; a GPU that is not listed keeps the name that it has. */
    String subject(List<Entity> entities) {
        return parts().of(entities);
    }

    /** What people call this node's parts. */
    PartNames parts() {
        return new PartNames(gpus.stream()
                .map(gpu -> new PartNames.Gpu(label(gpu), Set.copyOf(names(gpu))))
                .toList());
    }

    static String label(Gpu gpu) {
        String name = gpu.getPciAddress().hasValue()
                ? gpu.getPciAddress().getValue()
                : gpu.getUuid().getValue();
        return "GPU " + gpu.getIndex() + (name.isEmpty() ? "" : " (" + name + ")");
    }
}
