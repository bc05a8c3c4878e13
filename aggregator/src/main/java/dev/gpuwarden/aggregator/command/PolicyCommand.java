package dev.gpuwarden.aggregator.command;

import java.time.Clock;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The group of commands for authors of MonitorPolicies. */
@Command(
        name = "policy",
        mixinStandardHelpOptions = true,
        description = "Test the policies that monitor objects of a cluster.",
        synopsisSubcommandLabel = "COMMAND")
public final class PolicyCommand {

    private PolicyCommand() {}

    /** Returns the command with its subcommands. */
    public static CommandLine with(Clock clock) {
        return new CommandLine(new PolicyCommand()).addSubcommand(new PolicyTestCommand(clock));
    }
}
