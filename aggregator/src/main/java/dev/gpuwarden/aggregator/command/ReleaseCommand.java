package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Command;

/** The command that returns nodes to service. */
@Command(
        name = "release",
        mixinStandardHelpOptions = true,
        description = {
            "Return nodes to service that are in quarantine, or were cordoned with `gpuwarden cordon`.",
            "The faults that such a node has do not bring it back into quarantine; others do, and so do these after"
                    + " they have ended once. Cordons of other writers stay. Writes the Node with your own rights; the"
                    + " aggregator removes the rest of a quarantine immediately."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all of them are in service",
            "1:some are not, as reported",
            "2:wrong usage or configuration",
            "3:undecided: the cluster does not answer"
        })
public final class ReleaseCommand extends NodeCommand {

    public ReleaseCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    ManualCordon.Plan plan(CachedNode node, String who) {
        return ManualCordon.release(node);
    }
}
