package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import java.util.List;
import java.util.Map;

/**
 * A GPU board: what its driver says when nothing is wrong and nothing runs.
 *
 * @param slots where the boards of one node sit, in PCI order; more GPUs repeat them in further PCI domains
 */
public record Board(String name, List<Slot> slots, List<Setting> values, Map<String, MigProfile> mig) {

    /**
     * A place in a node.
     *
     * @param numaNode as the kernel and NVML number it
     */
    public record Slot(PciAddress address, int numaNode, int firstCpu, int lastCpu) {}

    /** The slot of the GPU with this index. */
    public Slot slot(int index) {
        Slot slot = slots.get(index % slots.size());
        int domains = index / slots.size();
        PciAddress at = slot.address();
        return new Slot(
                new PciAddress(at.domain() + domains, at.bus(), at.device(), at.function()),
                slot.numaNode(),
                slot.firstCpu(),
                slot.lastCpu());
    }
}
