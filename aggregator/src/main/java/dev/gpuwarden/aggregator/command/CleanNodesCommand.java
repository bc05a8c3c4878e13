package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.BreakerOptions;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.quarantine.CleanUp;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that removes this program's marks from nodes before it leaves the cluster. */
@Command(
        name = "clean-nodes",
        mixinStandardHelpOptions = true,
        description = {
            "Remove gpuwarden's cordons, taints, labels, annotations and conditions from nodes. Those of other"
                    + " writers stay.",
            "Changes nothing without --yes. No aggregator may act then: it would restore them. Writes Nodes with"
                    + " your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing of gpuwarden is left on these nodes, or in a dry run: would be left",
            "1:something is left on some nodes, as reported",
            "2:wrong usage or configuration, or an aggregator acts",
            "3:undecided: the cluster does not answer, or a right is missing"
        })
public final class CleanNodesCommand extends ClusterCommand {

    private static final String SCHEMA = "gpuwarden.clean-nodes/v1";

    private static final List<String> VRAM = List.of("gpuwarden-vram", "gpuwarden-vram-card");

    /** The field managers of the daemon and the aggregator. */
    private static final List<String> MANAGERS = Stream.concat(
                    Stream.of("gpuwarden", "gpuwarden-aggregator-conditions", "gpuwarden-object-monitor"),
                    VRAM.stream())
            .toList();

    private static final List<Right> NEEDED = List.of(
            new Right("list", "", "nodes"), new Right("patch", "", "nodes"), new Right("patch", "", "nodes/status"));

    @Parameters(arity = "0..*", paramLabel = "NODE", description = "Names, as in kubectl get nodes.")
    List<String> nodes = List.of();

    @Option(names = "--all", description = "All nodes of the cluster.")
    boolean all;

    @Option(names = "--yes", description = "Carry it out. Without it, only report what would be removed.")
    boolean yes;

    @Mixin
    BreakerOptions breaker = new BreakerOptions();

    public CleanNodesCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    /**
     * The outcome for one node.
     *
     * @param done true if nothing of this program is left, or in a dry run would be left
     */
    private record Cleaned(String node, boolean done, List<String> takes, List<String> stays, String why) {
        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("name", node);
            tree.put("done", done);
            tree.put("takes", takes);
            tree.put("stays", stays);
            tree.put("why", why);
            return tree;
        }

        boolean isNews() {
            return !done || !takes.isEmpty() || !stays.isEmpty();
        }

        String text(boolean yes) {
            List<String> parts = new ArrayList<>();
            if (!done) {
                parts.add("not done: " + why);
            }
            if (!takes.isEmpty()) {
                parts.add((yes && done ? "took away " : "would take away ") + String.join(", ", takes));
            }
            if (!stays.isEmpty()) {
                parts.add("stays: " + String.join(", ", stays));
            }
            return parts.isEmpty() ? "nothing of gpuwarden is there" : String.join("; ", parts);
        }
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        nodes.forEach(NodeCommand::named);
        if (nodes.isEmpty() != all) {
            throw new UserError("expected the names of nodes, or --all");
        }
        String who = FleetReader.user(api).value().orElse("an unknown user");
        if (yes) {
            refuseBeside(api);
            List<Right> missing = new AccessReviewer(api).missing(NEEDED);
            if (!missing.isEmpty()) {
                return undecided("nothing was done: " + who + " may not " + AccessReviewer.text(missing));
            }
        }
        List<Cleaned> cleaned = new ArrayList<>();
        for (String node : all ? names(api) : nodes) {
            cleaned.add(clean(api, node));
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", clock.instant().toString());
        tree.put("by", who);
        tree.put("dryRun", !yes);
        tree.put("nodes", cleaned.stream().map(Cleaned::tree).toList());
        show(tree, out -> print(out, cleaned));
        return cleaned.stream().allMatch(Cleaned::done) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Throws {@link UserError} if an aggregator acts, because it would restore the removed marks. */
    private void refuseBeside(KubeClient api) throws ApiException, InterruptedException {
        String namespace = breaker.namespace();
        try {
            Map<String, Object> lease =
                    api.get("/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + Manager.LEASE);
            Leader.of(lease).filter(leader -> leader.leads(clock.instant())).ifPresent(leader -> {
                throw new UserError(
                        "the aggregator " + leader.holder() + " acts, or did so less than half a minute ago:"
                                + " it would put all of it back. Stop it first: kubectl -n " + namespace
                                + " scale deployment gpuwarden-aggregator --replicas=0");
            });
        } catch (ApiException e) {
            if (!e.notFound()) {
                throw e;
            }
        }
    }

    private static List<String> names(KubeClient api) throws ApiException, InterruptedException {
        List<String> names = new ArrayList<>();
        Pages.each(
                api,
                NodeCache.NODES.path(),
                "",
                node -> names.add(JsonTrees.text(JsonTrees.object(node, "metadata"), "name")));
        return names;
    }

    private Cleaned clean(KubeClient api, String node) throws InterruptedException {
        List<CleanUp> plans = new ArrayList<>(List.of(new CleanUp(List.of(), List.of(), List.of())));
        NodeCommand.NodeChange.Outcome outcome = new NodeCommand.NodeChange(api, "clean-nodes", !yes)
                .settle(node, read -> {
                    try {
                        plans.set(0, CleanUp.of(read));
                    } catch (IOException e) {
                        return new ManualCordon.Plan(false, e.getMessage() + ": repair or remove them", List.of());
                    }
                    return new ManualCordon.Plan(true, "", plans.get(0).patch());
                });
        List<String> takes = new ArrayList<>(plans.get(0).takes());
        List<String> stays = plans.get(0).stays();
        if (!outcome.plan().done() || outcome.read().isEmpty()) {
            return new Cleaned(node, false, takes, stays, outcome.plan().why());
        }
        try {
            for (Map<String, Object> applied : applied(outcome.read().get())) {
                String manager = JsonTrees.text(applied, "manager");
                String subresource = JsonTrees.text(applied, "subresource");
                takes.add(what(manager, subresource) + " by " + manager);
                if (yes) {
                    release(api, outcome.read().get(), manager, subresource);
                }
            }
        } catch (ApiException e) {
            return new Cleaned(node, false, takes, stays, String.valueOf(e.getMessage()));
        }
        return new Cleaned(node, true, takes, stays, "");
    }

    private static String what(String manager, String subresource) {
        if (VRAM.contains(manager)) {
            return "VRAM for budgets";
        }
        return subresource.equals("status") ? "conditions" : "applied fields";
    }

    /** Returns the records of the fields that this program has applied, from the API server's own list. */
    private static List<Map<String, Object>> applied(CachedNode node) {
        return JsonTrees.objects(JsonTrees.object(node.tree(), "metadata"), "managedFields").stream()
                .filter(each -> JsonTrees.text(each, "operation").equals("Apply")
                        && MANAGERS.contains(JsonTrees.text(each, "manager")))
                .toList();
    }

    /** Applies an empty object, so the manager owns no field any more; fields without another owner are deleted. */
    private static void release(KubeClient api, CachedNode node, String manager, String subresource)
            throws ApiException, InterruptedException {
        var unused = api.apply(
                NodeCache.NODES.path(node.name()) + (subresource.isEmpty() ? "" : "/" + subresource),
                manager,
                Map.of(
                        "apiVersion", "v1",
                        "kind", "Node",
                        // With the uid, the request cannot create a Node that was deleted.
                        "metadata", Map.of("name", node.name(), "uid", node.uid())));
    }

    private void print(PrintWriter out, List<Cleaned> cleaned) {
        List<Cleaned> shown =
                cleaned.stream().filter(each -> !all || each.isNews()).toList();
        shown.forEach(each -> out.println(each.node() + ": " + Table.escape(each.text(yes))));
        if (all) {
            out.println(cleaned.size() - shown.size() + " more nodes have nothing of gpuwarden");
        }
        if (!yes) {
            out.println("dry run: nothing was changed; --yes does it");
        }
    }
}
