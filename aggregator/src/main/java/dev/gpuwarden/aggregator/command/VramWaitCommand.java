package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.vram.ExtendedResource;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.VramGroup;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that waits until pods can request VRAM of a node, so that a rollout can create them afterwards. */
@Command(
        name = "wait",
        mixinStandardHelpOptions = true,
        description = {
            "Wait until a node has VRAM for budgets: its status.allocatable, which the scheduler counts with.",
            "A pod that requests the resource before stays Pending. Reads the Node with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the node has it",
            "1:it did not have it in time",
            "2:wrong usage or configuration",
            "3:undecided: the cluster does not answer, or has no such node"
        })
public final class VramWaitCommand extends ClusterCommand {

    private static final Duration EACH = Duration.ofSeconds(1);

    @Option(names = "--node", required = true, paramLabel = "NODE", description = "Name, as in kubectl get nodes.")
    String node = "";

    @Option(names = "--at-least", required = true, paramLabel = "MIB", description = "Amount in MiB.")
    long atLeast;

    @Option(
            names = "--resource",
            defaultValue = VramCodec.RESOURCE,
            paramLabel = "NAME",
            description = "The extended resource (default: ${DEFAULT-VALUE}).")
    String resource = VramCodec.RESOURCE;

    @Option(
            names = "--timeout",
            defaultValue = "1m",
            paramLabel = "DURATION",
            description = "Longest wait; 0s to read once (default: ${DEFAULT-VALUE}).")
    Duration timeout = Duration.ofMinutes(1);

    VramWaitCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    /** Returns the command `vram` with this subcommand. */
    public static CommandLine group(Map<String, String> environment, Clock clock) {
        return new CommandLine(new VramGroup()).addSubcommand(new VramWaitCommand(environment, clock));
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        NodeCommand.named(node);
        if (atLeast < 1 || timeout.isNegative()) {
            throw new UserError("--at-least must be 1 or more, and --timeout 0s or more");
        }
        if (!VramCodec.isResource(resource)) {
            throw new UserError("--resource: expected the name of an extended resource such as " + VramCodec.RESOURCE
                    + ", found '" + resource + "'");
        }
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Optional<Map<String, Object>> read = api.find(NodeCache.NODES.path(node));
            if (read.isEmpty()) {
                return undecided("the cluster has no Node '" + node + "'");
            }
            OptionalLong has = ExtendedResource.value(read.get(), "allocatable", resource);
            boolean enough = has.orElse(0) >= atLeast;
            long left = end - System.nanoTime();
            if (enough || left <= 0) {
                report(has, enough);
                return enough ? ExitCode.OK : ExitCode.NOT_FIT;
            }
            TimeUnit.NANOSECONDS.sleep(Math.min(left, EACH.toNanos()));
        }
    }

    private void report(OptionalLong has, boolean enough) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", "gpuwarden.vram-wait/v1");
        tree.put("node", node);
        tree.put("resource", resource);
        has.ifPresent(mib -> tree.put("allocatable", mib));
        tree.put("enough", enough);
        String seen = has.isPresent() ? "has " + has.getAsLong() + " MiB of " + resource : "has no " + resource;
        show(
                tree,
                out -> out.println(
                        node + " " + seen
                                + (enough
                                        ? ""
                                        : ", expected " + atLeast + " MiB within " + Durations.text(timeout)
                                                + "; see --vram.advertise of the daemon and --vram.capacity of the aggregator")));
    }
}
