package dev.gpuwarden.cli;

import picocli.CommandLine.Command;

/**
 * The command `vram`, whose subcommands belong to several modules. Each of them adds its own to a line of this class, so that help
 * does not depend on which module is found first.
 */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description =
                "GPU memory by holder, the pods that have the GPUs, budgets, reservations, and the decisions of the VRAM watchdog.",
        synopsisSubcommandLabel = "COMMAND")
public final class VramGroup {}
