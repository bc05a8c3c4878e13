package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
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

    /** What cards of a kind have in common; `board` is the vendor's number (PSID). */
    public record Model(int deviceId, String name, String board, String firmware) {}

    /** What a scenario says about the devices that its boards come with. */
    record Wish(boolean none, int rate, boolean ethernet) {
        static final Wish BOARDS = new Wish(false, 0, false);
    }

    /** One beside each GPU of the node's first PCI domain, as far as boards have them. */
    static List<Nic> beside(List<SimGpu> gpus, Wish wish) {
        List<Nic> nics = new ArrayList<>();
        Map<Board, Integer> onBoard = new HashMap<>();
        for (SimGpu gpu : gpus) {
            Board board = gpu.board();
            int index = onBoard.merge(board, 1, Integer::sum) - 1;
            if (!wish.none() && index < board.slots().size()) {
                Board.Slot slot = board.slots().get(index);
                slot.nic()
                        .ifPresent(at -> board.nic()
                                .ifPresent(kind -> nics.add(new Nic(
                                        at,
                                        slot.numaNode(),
                                        kind.model(),
                                        wish.rate() > 0 ? wish.rate() : kind.rate(),
                                        wish.ethernet()))));
            }
        }
        return nics;
    }
}
