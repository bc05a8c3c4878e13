package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that keeps new pods off nodes until an operator releases them. */
@Command(
        name = "cordon",
        mixinStandardHelpOptions = true,
        description = {
            "Keep new pods off nodes until an operator releases them, with a reason. Running pods continue.",
            "A node in quarantine stays cordoned after the quarantine ends. Writes the Node with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all of them are cordoned",
            "1:some are not, as reported",
            "2:wrong usage or configuration",
            "3:undecided: the cluster does not answer"
        })
public final class CordonCommand extends NodeCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "The reason that fleet and explain show.")
    String reason = "";

    public CordonCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    ManualCordon.Plan plan(CachedNode node, String who) {
        return ManualCordon.cordon(node, reason, who);
    }
}
