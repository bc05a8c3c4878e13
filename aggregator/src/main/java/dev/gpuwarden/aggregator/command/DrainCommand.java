package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.ManualDrain;
import dev.gpuwarden.aggregator.drain.ManualDrainState;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.core.util.Threads;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that drains a node, or only the pods that hold one of its GPUs, and waits until these have ended. */
@Command(
        name = "drain",
        mixinStandardHelpOptions = true,
        description = {
            "Cordon a node, have its pods evicted as their budgets permit, and wait until they have ended; with --gpu only"
                    + " the pods that hold that GPU, or one that can only be reset together with it.",
            "Pods of DaemonSets, static pods and pods of the system namespaces stay. The node stays cordoned until"
                    + " an operator releases it. Uses the Kubernetes API with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:drained, or in a dry run: would be drained",
            "1:pods are left, as reported",
            "2:wrong usage or configuration, or no such node",
            "3:undecided: the cluster does not answer, a right is missing, or the holders of the GPU are unknown"
        })
public final class DrainCommand extends ClusterCommand {

    private static final String HEALTHS = "nodehealths";
    private static final List<Right> FOLLOWS = List.of(
            new Right("list", "", "nodes"),
            new Right("watch", "", "nodes"),
            new Right("list", "", "pods"),
            new Right("watch", "", "pods"));
    private static final Right CORDONS = new Right("patch", "", "nodes");
    private static final List<Right> ASKS = List.of(
            new Right("list", NodeHealthClient.ALL.group(), HEALTHS),
            new Right("watch", NodeHealthClient.ALL.group(), HEALTHS),
            new Right("patch", NodeHealthClient.ALL.group(), HEALTHS));

    private final ShutdownSignal stop;

    @Parameters(paramLabel = "NODE", description = "Its name, as in kubectl get nodes.")
    String node = "";

    @Mixin
    final ManualDrainOptions options = new ManualDrainOptions();

    @Option(names = "--reason", paramLabel = "TEXT", description = "The reason for the cordon in fleet and explain.")
    String reason = "to drain it";

    @Option(names = "--dry-run", description = "Report the outcome for each pod, and change nothing.")
    boolean dryRun;

    /** @param stop the signal to stop and to leave the remaining pods as they are */
    public DrainCommand(Map<String, String> environment, Clock clock, ShutdownSignal stop) {
        super(environment, clock);
        this.stop = stop;
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        NodeCommand.named(node);
        Set<String> gpus = options.gpus(node);
        options.validate();
        CachedNode there = there(api);
        String who = FleetReader.user(api).value().orElse("an unknown user");
        List<Right> needed = new ArrayList<>(FOLLOWS);
        if (!dryRun && !there.unschedulable()) {
            needed.add(CORDONS);
        }
        if (!dryRun && !options.notice.isZero()) {
            needed.addAll(ASKS);
        }
        List<Right> missing = new AccessReviewer(api).missing(needed);
        if (!missing.isEmpty()) {
            return undecided("nothing was done: " + who + " may not " + AccessReviewer.text(missing));
        }
        Health health = gpus.isEmpty() ? new Health(Optional.empty(), "") : health(api);
        DrainScope scope = DrainScope.of(
                node, gpus, health.tree().map(NodeHealth::units).orElse(ResetUnits.UNKNOWN), health.why());
        Optional<String> unasked = gpus.isEmpty() ? Optional.empty() : unasked(api, health);
        DrainProgress progress = new DrainProgress(node, this::print);
        scope.notes().forEach(progress::noted);
        ManualDrain drain = new ManualDrain(api, options.settings(scope.gpus(), unasked, dryRun), clock, progress);
        try (ShutdownSignal.Registration running = stop.register()) {
            Thread stopping = Threads.daemon("gpuwarden-drain-stop", () -> stopOn(running, drain));
            stopping.start();
            NodeCommand.NodeChange.Outcome cordon =
                    new NodeCommand.NodeChange(api, "drain", dryRun).settle(node, read -> cordon(read, who));
            if (!cordon.plan().done() || cordon.read().isEmpty()) {
                return undecided(node + " cannot be cordoned: " + cordon.plan().why());
            }
            if (!dryRun) {
                progress.cordoned(cordon);
            }
            ManualDrainState.Result result = drain.run(cordon.read().get());
            stopping.interrupt();
            DrainReport report = new DrainReport(node, who, scope, dryRun, cordon, result);
            show(report.tree(), report::print);
            return report.exitCode();
        }
    }

    private CachedNode there(KubeClient api) throws ApiException, InterruptedException {
        try {
            return CachedNode.of(api.get(NodeCache.NODES.path(node)));
        } catch (ApiException e) {
            if (e.notFound()) {
                throw new UserError("the cluster has no Node " + node + ": kubectl get nodes lists those it has");
            }
            throw e;
        }
    }

    private ManualCordon.Plan cordon(CachedNode read, String who) {
        if (read.unschedulable()) {
            return new ManualCordon.Plan(
                    true,
                    QuarantineSummary.marked(read)
                            ? "it is in quarantine, and cordoned until the quarantine ends"
                            : "it was cordoned already",
                    List.of());
        }
        ManualCordon.Plan plan = ManualCordon.cordon(read, reason, who);
        return plan.done() ? new ManualCordon.Plan(true, "it takes no new pods", plan.patch()) : plan;
    }

    /**
     * The node's report.
     *
     * @param why the reason why it cannot be read; empty if it was read
     */
    private record Health(Optional<Map<String, Object>> tree, String why) {}

    private Health health(KubeClient api) throws InterruptedException {
        try {
            return new Health(Optional.of(api.get(NodeHealthClient.ALL.path(node))), "");
        } catch (ApiException e) {
            return new Health(
                    Optional.empty(),
                    e.notFound()
                            ? "it has no daemon that reports to an aggregator"
                            : "its NodeHealth cannot be read: " + e.answer());
        }
    }

    /** Returns the reason why the node's daemon cannot be asked for the holders of its GPUs; empty if it can. */
    private Optional<String> unasked(KubeClient api, Health health) throws ApiException, InterruptedException {
        if (dryRun) {
            return Optional.of("a dry run does not ask its daemon");
        }
        List<Right> missing = new AccessReviewer(api).missing(ASKS);
        if (!missing.isEmpty()) {
            return Optional.of("to ask its daemon you would have to " + AccessReviewer.text(missing));
        }
        return health.tree().isPresent() ? Optional.empty() : Optional.of(health.why());
    }

    private void stopOn(ShutdownSignal.Registration running, ManualDrain drain) {
        try {
            running.await();
            print(node + (dryRun ? ": stopped" : ": stopped; it stays cordoned, and evicted pods continue to end"));
            drain.stop();
        } catch (InterruptedException e) {
            // The drain has ended.
        }
    }

    private void print(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
    }
}
