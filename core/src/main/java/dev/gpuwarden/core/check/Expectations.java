package dev.gpuwarden.core.check;

import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What the user says that this node has. An empty one is not pinned, and nothing is compared with it.
 *
 * @param gpus so many GPUs, no fewer and no more
 * @param drivers the driver's version starts with one of these
 * @param products each GPU's product name holds one of these, whatever the case
 * @param vbios each GPU's VBIOS version starts with one of these, whatever the case
 * @param boardParts each GPU's board part number is one of these, whatever the case
 * @param nicPorts at least so many network ports are active
 * @param nicRateGbps only ports that are at least this fast count for {@code nicPorts}
 * @param untouchedNics RDMA devices of which no file is read: asking them makes some devices complain in the kernel log
 */
public record Expectations(
        OptionalInt gpus,
        List<String> drivers,
        List<String> products,
        List<String> vbios,
        List<String> boardParts,
        OptionalInt nicPorts,
        OptionalInt nicRateGbps,
        Set<String> untouchedNics) {

    public static final Expectations NONE = new Expectations(
            OptionalInt.empty(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            OptionalInt.empty(),
            OptionalInt.empty(),
            Set.of());

    public Expectations {
        drivers = List.copyOf(drivers);
        products = List.copyOf(products);
        vbios = List.copyOf(vbios);
        boardParts = List.copyOf(boardParts);
        untouchedNics = Set.copyOf(untouchedNics);
    }
}
