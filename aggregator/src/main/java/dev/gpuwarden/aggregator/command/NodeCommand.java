package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.command.HandPatch.Outcome;
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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that changes nodes, each by one patch for the version that it was decided on. */
abstract class NodeCommand extends ClusterCommand {

    private static final String SCHEMA = "gpuwarden.by-hand/v1";

    @Parameters(arity = "1..*", paramLabel = "NODE", description = "Names, as in kubectl get nodes.")
    List<String> nodes = List.of();

    @Option(names = "--dry-run", description = "Say what would be written, and write nothing.")
    boolean dryRun;

    NodeCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    abstract ManualCordon.Plan plan(CachedNode node, String who);

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        nodes.forEach(NodeCommand::named);
        String who = FleetReader.user(api).value().orElse("somebody");
        HandPatch patch = new HandPatch(api, spec.name(), dryRun);
        List<Outcome> outcomes = new ArrayList<>();
        for (String node : nodes) {
            outcomes.add(patch.settle(node, read -> plan(read, who)));
        }
        show(tree(who, outcomes), out -> print(out, outcomes));
        return outcomes.stream().allMatch(outcome -> outcome.plan().done()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Throws {@link UserError} where no Node can have this name. */
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
}
