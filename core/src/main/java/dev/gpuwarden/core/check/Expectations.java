package dev.gpuwarden.core.check;

import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The user's expectations of this node. An empty one is not compared with anything.
 *
 * @param gpus exact number of GPUs
 * @param drivers the driver's version must start with one of these
 * @param products each GPU's product name must contain one of these, in any case
 * @param vbios each GPU's VBIOS version must start with one of these, in any case
 * @param boardParts each GPU's board part number must be one of these, in any case
 * @param nicPorts least number of active network ports
 * @param nicRateGbps least rate of a port that counts for {@code nicPorts}
 * @param untouchedNics RDMA devices whose files are not read, since reading makes some devices log errors in the
 *     kernel log
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
