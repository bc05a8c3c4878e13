package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A GPU board: what its driver says when nothing is wrong and nothing runs.
 *
 * @param nic empty where such nodes usually have none
 * @param slots where the boards of one node sit, in PCI order; more GPUs repeat them in further PCI domains
 */
public record Board(
        String name, List<Slot> slots, Optional<NicKind> nic, List<Setting> values, Map<String, MigProfile> mig) {

    /**
     * The network devices that nodes with such boards usually have.
     *
     * @param rate Gb/s
     */
    public record NicKind(Nic.Model model, int rate) {}

    /**
     * A place in a node.
     *
     * @param numaNode as the kernel and NVML number it
     * @param nic the network device beside it
     */
    public record Slot(PciAddress address, int numaNode, int firstCpu, int lastCpu, Optional<PciAddress> nic) {}

    /** The slot of the GPU with this index. */
    public Slot slot(int index) {
        Slot slot = slots.get(index % slots.size());
        int domains = index / slots.size();
        PciAddress at = slot.address();
        return new Slot(
                new PciAddress(at.domain() + domains, at.bus(), at.device(), at.function()),
                slot.numaNode(),
                slot.firstCpu(),
                slot.lastCpu(),
                domains == 0 ? slot.nic() : Optional.empty());
    }
}
