package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A network device with one port.
 *
 * @param rate Gb/s when nothing is wrong
 * @param ethernet RoCE; else InfiniBand
 */
public record Nic(PciAddress address, int numaNode, Model model, int rate, boolean ethernet) {

    /**
     * A model of network cards.
     *
     * @param board the vendor's number (PSID)
     */
    public record Model(int deviceId, String name, String board, String firmware) {}

    /**
     * A scenario's choice of devices.
     *
     * @param rate Gb/s; 0: the boards' own
     */
    record Choice(boolean none, int rate, boolean ethernet) {

        static final Choice OF_BOARDS = new Choice(false, 0, false);

        private enum LinkLayer {
            INFINIBAND,
            ETHERNET
        }

        static Choice read(YamlNode node) {
            if (node.is("none")) {
                return new Choice(true, 0, false);
            }
            if (!node.isMapping()) {
                throw node.problem("none, or rate and link-layer");
            }
            Fields f = node.fields("rate", "link-layer");
            return new Choice(
                    false,
                    f.integer("rate", 0, 1, 10_000),
                    f.choice("link-layer", LinkLayer.INFINIBAND) == LinkLayer.ETHERNET);
        }
    }

    /** Returns one device beside each GPU of the node's first PCI domain, where its board has one. */
    static List<Nic> beside(List<SimGpu> gpus, Choice choice) {
        List<Nic> nics = new ArrayList<>();
        Map<Board, Integer> onBoard = new HashMap<>();
        for (SimGpu gpu : gpus) {
            Board board = gpu.board();
            int index = onBoard.merge(board, 1, Integer::sum) - 1;
            if (!choice.none() && index < board.slots().size()) {
                Board.Slot slot = board.slots().get(index);
                slot.nic()
                        .ifPresent(at -> board.nic()
                                .ifPresent(kind -> nics.add(new Nic(
                                        at,
                                        slot.numaNode(),
                                        kind.model(),
                                        choice.rate() > 0 ? choice.rate() : kind.rate(),
                                        choice.ethernet()))));
            }
        }
        return nics;
    }
}
