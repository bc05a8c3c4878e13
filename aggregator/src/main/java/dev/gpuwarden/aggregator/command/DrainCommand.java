package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.cluster.Rights;
import dev.gpuwarden.aggregator.cluster.Rights.Right;
import dev.gpuwarden.aggregator.drain.DrainByHand;
import dev.gpuwarden.aggregator.drain.HandResult;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.quarantine.ByHand;
import dev.gpuwarden.aggregator.quarantine.Inspection;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Stop;
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

/** Takes the pods off a node, or those that hold one of its GPUs, and waits until they have ended. */
@Command(
        name = "drain",
        mixinStandardHelpOptions = true,
        description = {
            "Cordon a node, have its pods evicted as their budgets permit, and wait until they have ended; with --gpu only"
                    + " those that hold that GPU.",
            "Pods of DaemonSets, of the node's own files and of the system's namespaces stay. The node stays cordoned until"
                    + " somebody releases it. Asks the Kubernetes API with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:drained; of a dry run: it would be",
            "1:pods are left, as is said",
            "2:wrong usage or configuration, or no such node",
            "3:undecided: the cluster does not answer, a right is missing, or nobody can say who holds the GPU"
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
            new Right("list", NodeHealths.ALL.group(), HEALTHS),
            new Right("watch", NodeHealths.ALL.group(), HEALTHS),
            new Right("patch", NodeHealths.ALL.group(), HEALTHS));

    private final Stop stop;

    @Parameters(paramLabel = "NODE", description = "Its name, as in kubectl get nodes.")
    String node = "";

    @Mixin
    final DrainOptions options = new DrainOptions();

    @Option(names = "--reason", paramLabel = "TEXT", description = "What fleet and explain say of the cordon.")
    String reason = "to drain it";

    @Option(names = "--dry-run", description = "Say what would become of each pod, and change nothing.")
    boolean dryRun;

    /** @param stop when it is to leave the rest as it is */
    public DrainCommand(Map<String, String> environment, Clock clock, Stop stop) {
        super(environment, clock);
        this.stop = stop;
    }

    @Override
    int ask(ClusterApi api) throws ClusterException, InterruptedException {
        HandCommand.named(node);
        Set<String> gpus = options.gpus(node);
        options.validate();
        NodeRead there = there(api);
        String who = ClusterReader.user(api).value().orElse("somebody");
        List<Right> needed = new ArrayList<>(FOLLOWS);
        if (!dryRun && !there.unschedulable()) {
            needed.add(CORDONS);
        }
        if (!dryRun && !options.notice.isZero()) {
            needed.addAll(ASKS);
        }
        List<Right> missing = new Rights(api).missing(needed);
        if (!missing.isEmpty()) {
            return undecided("nothing was done: " + who + " may not " + Rights.text(missing));
        }
        Optional<String> unasked = gpus.isEmpty() ? Optional.empty() : unasked(api);
        DrainProgress progress = new DrainProgress(node, this::tell);
        DrainByHand drain = new DrainByHand(api, options.settings(gpus, unasked, dryRun), clock, progress);
        try (Stop.Registration running = stop.register()) {
            Thread stopping = new Thread(() -> stopOn(running, drain), "gpuwarden-drain-stop");
            stopping.setDaemon(true);
            stopping.start();
            HandPatch.Outcome cordon = new HandPatch(api, "drain", dryRun).settle(node, read -> cordon(read, who));
            if (!cordon.plan().done() || cordon.read().isEmpty()) {
                return undecided(node + " cannot be cordoned: " + cordon.plan().why());
            }
            if (!dryRun) {
                progress.cordoned(cordon);
            }
            HandResult result = drain.run(cordon.read().get());
            stopping.interrupt();
            DrainReport report = new DrainReport(node, who, gpus, dryRun, cordon, result);
            show(report.tree(), report::print);
            return report.exitCode();
        }
    }

    private NodeRead there(ClusterApi api) throws ClusterException, InterruptedException {
        try {
            return NodeRead.of(api.get(Fleet.NODES.path(node)));
        } catch (ClusterException e) {
            if (e.notFound()) {
                throw new UserError("the cluster has no Node " + node + ": kubectl get nodes lists those it has");
            }
            throw e;
        }
    }

    private ByHand.Plan cordon(NodeRead read, String who) {
        if (read.unschedulable()) {
            return new ByHand.Plan(
                    true,
                    Inspection.marked(read)
                            ? "it is in quarantine, and cordoned until that is over"
                            : "it was cordoned already",
                    List.of());
        }
        ByHand.Plan plan = ByHand.cordon(read, reason, who);
        return plan.done() ? new ByHand.Plan(true, "it takes no new pods", plan.patch()) : plan;
    }

    /** Why the node's daemon cannot be asked who holds its GPUs; empty where it can. */
    private Optional<String> unasked(ClusterApi api) throws ClusterException, InterruptedException {
        if (dryRun) {
            return Optional.of("a dry run does not ask its daemon");
        }
        List<Right> missing = new Rights(api).missing(ASKS);
        if (!missing.isEmpty()) {
            return Optional.of("to ask its daemon you would have to " + Rights.text(missing));
        }
        try {
            var unused = api.get(NodeHealths.ALL.path(node));
            return Optional.empty();
        } catch (ClusterException e) {
            return Optional.of(
                    e.notFound()
                            ? "it has no daemon that reports to an aggregator"
                            : "its daemon cannot be asked: " + e.answer());
        }
    }

    private void stopOn(Stop.Registration running, DrainByHand drain) {
        try {
            running.await();
            tell(node
                    + (dryRun
                            ? ": stopped"
                            : ": stopped; it stays cordoned, and pods that were asked to end go on ending"));
            drain.stop();
        } catch (InterruptedException e) {
            // It is over.
        }
    }

    private void tell(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
    }
}
