package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.FleetReader.NodeStory;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command that explains the state of one node. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        description = {
            "Explain the state of a cluster's node: its faults, the decision with its reason, and the next action.",
            "Uses the Kubernetes API with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the node is fit",
            "1:the node is not fit",
            "2:wrong usage or configuration, or no such node",
            "3:undecided: the node has no current report, or the cluster does not answer"
        })
public final class ExplainCommand extends ClusterCommand.ReadCommand {

    @Parameters(paramLabel = "NODE", description = "Its name, as in kubectl get nodes.")
    String node = "";

    public ExplainCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        NodeCommand.named(node);
        Optional<NodeStory> story = reader(api).node(node, clock.instant());
        if (story.isEmpty()) {
            throw new UserError("the cluster has no Node " + node + ": kubectl get nodes lists those it has");
        }
        ExplainReport report = new ExplainReport(story.get());
        show(report.tree(), out -> ExplainTable.print(report, out));
        NodeAssessment assessment = story.get().assessment();
        boolean unknown = assessment.state() == FleetState.SILENT || assessment.state() == FleetState.OTHER;
        return assessment.unfit() ? ExitCode.NOT_FIT : unknown ? ExitCode.UNDECIDED : ExitCode.OK;
    }
}
