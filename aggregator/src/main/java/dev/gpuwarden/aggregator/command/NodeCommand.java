package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.command.NodeCommand.NodeChange.Outcome;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that changes nodes, each by one patch for the version that it was decided on. */
abstract class NodeCommand extends ClusterCommand {

    private static final String SCHEMA = "gpuwarden.by-hand/v1";

    @Parameters(arity = "1..*", paramLabel = "NODE", description = "Names, as in kubectl get nodes.")
    List<String> nodes = List.of();

    @Option(names = "--dry-run", description = "Report the changes without writing them.")
    boolean dryRun;

    NodeCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    abstract ManualCordon.Plan plan(CachedNode node, String who);

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        nodes.forEach(NodeCommand::named);
        String who = FleetReader.user(api).value().orElse("an unknown user");
        NodeChange patch = new NodeChange(api, spec.name(), dryRun);
        List<Outcome> outcomes = new ArrayList<>();
        for (String node : nodes) {
            outcomes.add(patch.settle(node, read -> plan(read, who)));
        }
        show(tree(who, outcomes), out -> print(out, outcomes));
        return outcomes.stream().allMatch(outcome -> outcome.plan().done()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Throws {@link UserError} if no Node can have this name. */
    static void named(String node) {
        if (!node.matches("[a-z0-9][a-z0-9.-]*")) {
            throw new UserError("expected the name of a Node, found \"" + node + "\"");
        }
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

    /**
     * An operator's change of a node, by one patch for the version that it was decided on.
     *
     * @param program the last part of the field manager's name
     * @param dryRun true if nothing must be written
     */
    record NodeChange(KubeClient api, String program, boolean dryRun) {

        /** The limit of tries for a node that changes all the time. Each try reads the node again. */
        private static final int TRIES = 5;

        /**
         * The outcome for one node.
         *
         * @param read the node as last read or written; empty if it could not be read
         */
        record Outcome(String node, ManualCordon.Plan plan, boolean written, Optional<CachedNode> read) {
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

        /** Changes the node, or plans the change in a dry run. Blocks. */
        Outcome settle(String node, Function<CachedNode, ManualCordon.Plan> decide) throws InterruptedException {
            for (int left = TRIES; ; left--) {
                try {
                    CachedNode read = CachedNode.of(api.get(NodeCache.NODES.path(node)));
                    ManualCordon.Plan plan = decide.apply(read);
                    if (dryRun || plan.patch().isEmpty()) {
                        return new Outcome(node, plan, false, Optional.of(read));
                    }
                    Map<String, Object> now =
                            api.patch(NodeCache.NODES.path(node) + "?fieldManager=gpuwarden-" + program, plan.patch());
                    return new Outcome(node, plan, true, Optional.of(CachedNode.of(now)));
                } catch (ApiException e) {
                    if (e.notFound()) {
                        return failed(node, "the cluster has no such Node");
                    }
                    // Another writer has changed the node between the read and the write.
                    boolean again = (e.conflict() || e.invalid()) && left > 1;
                    if (!again) {
                        return failed(node, String.valueOf(e.getMessage()));
                    }
                }
            }
        }

        private static Outcome failed(String node, String why) {
            return new Outcome(node, new ManualCordon.Plan(false, why, List.of()), false, Optional.empty());
        }
    }
}
