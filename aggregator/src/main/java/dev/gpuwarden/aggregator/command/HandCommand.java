package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.quarantine.ByHand;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that changes nodes, each by one patch for the version that it was decided on. */
abstract class HandCommand extends ClusterCommand {

    private static final String SCHEMA = "gpuwarden.by-hand/v1";

    /** Of a node that changes all the time, each try reads it anew. */
    private static final int TRIES = 5;

    @Parameters(arity = "1..*", paramLabel = "NODE", description = "Names, as in kubectl get nodes.")
    List<String> nodes = List.of();

    @Option(names = "--dry-run", description = "Say what would be written, and write nothing.")
    boolean dryRun;

    HandCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    abstract ByHand.Plan plan(NodeRead node, String who);

    /** What came of one node. */
    private record Outcome(String node, ByHand.Plan plan, boolean written) {
        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("name", node);
            tree.put("done", plan.done());
            tree.put("why", plan.why());
            tree.put("written", written);
            tree.put("patch", plan.patch());
            return tree;
        }
    }

    @Override
    int ask(ClusterApi api) throws ClusterException, InterruptedException {
        for (String node : nodes) {
            if (!node.matches("[a-z0-9][a-z0-9.-]*")) {
                throw new UserError("expected the name of a Node, found \"" + node + "\"");
            }
        }
        String who = ClusterReader.user(api).value().orElse("somebody");
        List<Outcome> outcomes = new ArrayList<>();
        for (String node : nodes) {
            outcomes.add(settle(api, node, who));
        }
        show(tree(who, outcomes), out -> print(out, outcomes));
        return outcomes.stream().allMatch(outcome -> outcome.plan().done()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    private Outcome settle(ClusterApi api, String node, String who) throws ClusterException, InterruptedException {
        for (int left = TRIES; ; left--) {
            try {
                ByHand.Plan plan = plan(NodeRead.of(api.get(Fleet.NODES.path(node))), who);
                boolean writes = !dryRun && !plan.patch().isEmpty();
                if (writes) {
                    var unused =
                            api.patch(Fleet.NODES.path(node) + "?fieldManager=gpuwarden-" + spec.name(), plan.patch());
                }
                return new Outcome(node, plan, writes);
            } catch (ClusterException e) {
                if (e.notFound()) {
                    return failed(node, "the cluster has no such Node");
                }
                // Somebody has changed it between reading and writing.
                boolean again = (e.conflict() || e.invalid()) && left > 1;
                if (!again) {
                    return failed(node, String.valueOf(e.getMessage()));
                }
            }
        }
    }

    private static Outcome failed(String node, String why) {
        return new Outcome(node, new ByHand.Plan(false, why, List.of()), false);
    }

    private Map<String, Object> tree(String who, List<Outcome> outcomes) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", clock.instant().toString());
        tree.put("action", spec.name());
        tree.put("by", who);
        tree.put("dryRun", dryRun);
        tree.put("nodes", outcomes.stream().map(Outcome::tree).toList());
        return tree;
    }

    private void print(PrintWriter out, List<Outcome> outcomes) {
        for (Outcome outcome : outcomes) {
            out.println(outcome.node() + ": " + (outcome.plan().done() ? "" : "not done: ")
                    + Table.escape(outcome.plan().why()));
        }
        if (dryRun) {
            out.println("dry run: nothing was changed");
        }
    }
}
