package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Keeps new pods away from nodes until a person releases them. */
@Command(
        name = "cordon",
        mixinStandardHelpOptions = true,
        description = {
            "Keep new pods away from nodes until somebody releases them, and say why. Pods that run there go on.",
            "A node that is in quarantine stays cordoned when that is over. Writes the Node with your own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all of them are cordoned",
            "1:some are not, as is said",
            "2:wrong usage or configuration",
            "3:undecided: the cluster does not answer"
        })
public final class CordonCommand extends NodeCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "What fleet and explain say of it.")
    String reason = "";

    public CordonCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    ManualCordon.Plan plan(CachedNode node, String who) {
        return ManualCordon.cordon(node, reason, who);
    }
}
