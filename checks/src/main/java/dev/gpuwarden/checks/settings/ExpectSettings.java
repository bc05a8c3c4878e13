package dev.gpuwarden.checks.settings;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.Expectations;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The user's expectations of this node. An expectation that is not set is not compared. */
public final class ExpectSettings {

    @Option(names = "--expect.gpus", paramLabel = "COUNT", description = "Number of GPUs of this node.")
    @Nullable Integer gpus;

    @Option(
            names = "--expect.driver",
            split = ",",
            paramLabel = "VERSION",
            description = "The driver's version or its beginning, such as 550.163; any of several.")
    List<String> drivers = List.of();

    @Option(
            names = "--expect.product",
            split = ",",
            paramLabel = "TEXT",
            description = "Text that each GPU's product name contains, such as H100; any of several.")
    List<String> products = List.of();

    @Option(
            names = "--expect.vbios",
            split = ",",
            paramLabel = "VERSION",
            description = "Each GPU's VBIOS version or its beginning; any of several.")
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
            description = "Least number of active InfiniBand, RoCE and EFA ports.")
    @Nullable Integer nicPorts;

    @Option(
            names = "--expect.nic-rate-gbps",
            paramLabel = "GBPS",
            description = "Least rate of the expected network ports in Gb/s; slower ones do not count.")
    @Nullable Integer nicRateGbps;

    @Option(
            names = "--check.nic-exclude",
            split = ",",
            paramLabel = "DEVICE",
            description = "RDMA devices that are never read, such as mlx5_bond_0: some log errors in the kernel"
                    + " log when they are read.")
    List<String> excluded = List.of();

    /** Returns the expectations; throws {@link UserError} if they contradict each other. */
    public Expectations expectations() {
        if (nicRateGbps != null && nicPorts == null) {
            throw new UserError(
                    "--expect.nic-rate-gbps is the rate of the ports of --expect.nic-ports," + " which is not set");
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
