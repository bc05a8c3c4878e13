package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A GPU board, with the values that its driver returns while nothing is wrong and nothing runs.
 *
 * @param slots places of the boards in one node, in PCI order; more GPUs repeat them in further PCI domains
 * @param nic empty where such nodes usually have no network devices
 */
public record Board(
        String name, List<Slot> slots, Optional<NicKind> nic, List<Setting> values, Map<String, MigProfile> mig) {

    /**
     * The network devices that nodes with such boards usually have.
     *
     * @param rate Gb/s
     */
    public record NicKind(Nic.Model model, int rate) {

        private static NicKind read(YamlNode node) {
            Fields f = node.fields("device", "model", "board", "firmware", "rate");
            int device = f.require("device").numbers(Form.of("number")).get(0).intValue();
            return new NicKind(
                    new Nic.Model(
                            device,
                            f.read("model", "", YamlNode::text),
                            f.read("board", "", YamlNode::text),
                            f.read("firmware", "", YamlNode::text)),
                    f.integer("rate", 0, 1, 10_000));
        }
    }

    /**
     * A place in a node.
     *
     * @param numaNode number in the kernel and in NVML
     * @param nic address of the network device beside it; empty for none
     */
    public record Slot(PciAddress address, int numaNode, int firstCpu, int lastCpu, Optional<PciAddress> nic) {

        private static Slot read(YamlNode node) {
            Fields f = node.fields("address", "numa", "cpus", "nic");
            List<Long> cpus = f.require("cpus").numbers(Form.of("range"));
            return new Slot(
                    Board.address(f.require("address")),
                    f.integer("numa", 0, 0, 63),
                    cpus.get(0).intValue(),
                    cpus.get(1).intValue(),
                    f.get("nic").map(Board::address));
        }
    }

    /** Returns the slot of the GPU with this index. */
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

    /** Reads a profile. */
    static Board read(String name, YamlNode profile) {
        Fields f = profile.fields("slots", "nic", "values", "mig");
        Map<String, MigProfile> mig = new LinkedHashMap<>();
        f.get("mig")
                .ifPresent(all -> all.entries().forEach(e -> mig.put(e.name(), MigProfile.read(e.name(), e.value()))));
        return new Board(
                name,
                f.require("slots").items().stream().map(Slot::read).toList(),
                f.get("nic").map(NicKind::read),
                Keys.GPU.settings(f.require("values")),
                mig);
    }

    private static PciAddress address(YamlNode node) {
        return PciAddress.parse(node.text()).orElseThrow(() -> node.problem("a PCI address"));
    }
}
