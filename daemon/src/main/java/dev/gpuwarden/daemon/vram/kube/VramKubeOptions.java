package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of VRAM budgets in Kubernetes. */
public final class VramKubeOptions {

    @Option(
            names = "--vram.resource",
            defaultValue = VramCodec.RESOURCE,
            paramLabel = "NAME",
            description =
                    "Extended resource in which pods state their VRAM budget in MiB, like the aggregator's option of"
                            + " this name (default: ${DEFAULT-VALUE}).")
    String resource = VramCodec.RESOURCE;

    @Option(
            names = "--vram.pods",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description =
                    "Hold pods to their VRAM budgets, from the aggregator (--uplink.address) or else by the daemon's own"
                            + " account: ${COMPLETION-CANDIDATES}. Also on with --vram.advertise=on (default:"
                            + " ${DEFAULT-VALUE}).")
    Switch pods = Switch.off;

    @Option(
            names = "--vram.advertise",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description =
                    "Have the amount of VRAM for budgets in this node's Node. The aggregator writes it, or else the daemon"
                            + " by its own account: ${COMPLETION-CANDIDATES}. Off removes the amount again (default: ${DEFAULT-VALUE}).")
    Switch advertise = Switch.off;

    @Bounds(from = "0")
    @Option(
            names = "--vram.slack-mib",
            defaultValue = "0",
            paramLabel = "MIB",
            description =
                    "Memory of each GPU that no budget gets, besides the floor and the driver's own part (default:"
                            + " ${DEFAULT-VALUE}).")
    long slackMib;

    @Bounds(from = "1")
    @Option(
            names = "--vram.amount-mib",
            paramLabel = "MIB",
            description = "Amount to report for the node, at most the computed one (default: the computed one).")
    @Nullable Long amountMib;

    /**
     * Checks the options.
     *
     * @throws UserError if they are not usable
     */
    public void validate() {
        if (!VramCodec.isResource(resource)) {
            throw new UserError("--vram.resource: expected the name of an extended resource such as "
                    + VramCodec.RESOURCE + ", found '" + resource + "'");
        }
    }

    /** Returns true if pods are held to their budgets. */
    public boolean wanted() {
        return pods.isOn() || advertises();
    }

    public String resource() {
        return resource;
    }

    public boolean advertises() {
        return advertise.isOn();
    }

    /** @param pressure the rules that have the floor */
    public AdvertisedBudget.Rules rules(PressureRules pressure) {
        return new AdvertisedBudget.Rules(pressure, slackMib << 20, Optional.ofNullable(amountMib));
    }
}
