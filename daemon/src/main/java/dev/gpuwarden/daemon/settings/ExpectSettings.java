package dev.gpuwarden.daemon.settings;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.Expectations;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What the user says that this node has. What is not given is not compared. */
public final class ExpectSettings {

    @Option(names = "--expect.gpus", paramLabel = "COUNT", description = "How many GPUs this node has.")
    @Nullable Integer gpus;

    @Option(
            names = "--expect.driver",
            split = ",",
            paramLabel = "VERSION",
            description = "The driver's version or how it begins, such as 550.163; any of several.")
    List<String> drivers = List.of();

    @Option(
            names = "--expect.product",
            split = ",",
            paramLabel = "TEXT",
            description = "What each GPU's product name holds, such as H100; any of several.")
    List<String> products = List.of();

    @Option(
            names = "--expect.vbios",
            split = ",",
            paramLabel = "VERSION",
            description = "Each GPU's VBIOS version or how it begins; any of several.")
    List<String> vbios = List.of();

    @Option(
            names = "--expect.board-part",
            split = ",",
            paramLabel = "NUMBER",
            description = "Each GPU's board part number; any of several.")
    List<String> boardParts = List.of();

    @Option(
            names = "--expect.nic-ports",
            paramLabel = "COUNT",
            description = "How many InfiniBand, RoCE and EFA ports are active, at least.")
    @Nullable Integer nicPorts;

    @Option(
            names = "--expect.nic-rate-gbps",
            paramLabel = "GBPS",
            description = "How fast those ports are, at least, in Gb/s; slower ones do not count.")
    @Nullable Integer nicRateGbps;

    @Option(
            names = "--check.nic-exclude",
            split = ",",
            paramLabel = "DEVICE",
            description = "RDMA devices that are never asked anything, such as mlx5_bond_0: some complain in the kernel"
                    + " log when they are.")
    List<String> excluded = List.of();

    /** Throws {@link UserError} where numbers make no sense. */
    public Expectations expectations() {
        if (nicRateGbps != null && nicPorts == null) {
            throw new UserError("--expect.nic-rate-gbps says how fast the ports of --expect.nic-ports are,"
                    + " which is not given");
        }
        return new Expectations(
                number("--expect.gpus", gpus),
                drivers,
                products,
                vbios,
                boardParts,
                number("--expect.nic-ports", nicPorts),
                number("--expect.nic-rate-gbps", nicRateGbps),
                Set.copyOf(excluded));
    }

    private static OptionalInt number(String option, @Nullable Integer value) {
        if (value == null) {
            return OptionalInt.empty();
        }
        if (value < 0) {
            throw new UserError(option + " must not be negative, but was " + value);
        }
        return OptionalInt.of(value);
    }
}
