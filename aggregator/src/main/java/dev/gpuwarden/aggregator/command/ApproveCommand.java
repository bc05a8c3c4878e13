package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.aggregator.remediation.RepairApproval;
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Command;

/** The command that approves the repairs that nodes wait for. */
@Command(
        name = "approve",
        mixinStandardHelpOptions = true,
        description = {
            "Approve the repair that a node waits for, if the aggregator runs with --remediation.approval=manual.",
            "The approval is for the one action that is reported. The next action needs an approval of its own. Writes"
                    + " the Node with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all of them are approved",
            "1:some are not, as reported",
            "2:wrong usage or configuration",
            "3:undecided: the cluster does not answer"
        })
public final class ApproveCommand extends NodeCommand {

    public ApproveCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    ManualCordon.Plan plan(CachedNode node, String who) {
        return RepairApproval.plan(node, who);
    }
}
