package dev.gpuwarden.aggregator.command;

import java.time.Clock;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Groups what authors of MonitorPolicies need. */
@Command(
        name = "policy",
        mixinStandardHelpOptions = true,
        description = "Policies by which objects of a cluster are monitored.",
        synopsisSubcommandLabel = "COMMAND")
public final class PolicyCommand {

    private PolicyCommand() {}

    /** The command with all of its own. */
    public static CommandLine with(Clock clock) {
        return new CommandLine(new PolicyCommand()).addSubcommand(new PolicyTestCommand(clock));
    }
}
