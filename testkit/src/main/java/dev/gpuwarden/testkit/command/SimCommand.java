package dev.gpuwarden.testkit.command;

import picocli.CommandLine.Command;

/** Simulated GPUs for any program. */
@Command(
        name = "sim",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = {
            "Simulated GPUs for any program.",
            "A scenario is a name from `sim list`, or the path of a YAML file of your own."
        },
        subcommands = {
            SimListCommand.class,
            SimShowCommand.class,
            SimExecCommand.class,
            SimSetCommand.class,
            SimLogCommand.class,
            SimValidateCommand.class
        })
final class SimCommand {}
