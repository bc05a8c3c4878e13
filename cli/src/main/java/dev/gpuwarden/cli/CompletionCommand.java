package dev.gpuwarden.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the completion script for this program's commands, options and values. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = {
            "Prints a completion script for a shell.",
            "For this session:",
            "  source <(gpuwarden completion bash)",
            "For all: gpuwarden completion bash > /etc/bash_completion.d/gpuwarden"
        })
final class CompletionCommand implements Callable<Integer> {

    enum Shell {
        bash,
        zsh
    }

    @Parameters(paramLabel = "SHELL", description = "One of: ${COMPLETION-CANDIDATES}.")
    Shell shell = Shell.bash;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() {
        CommandLine root = spec.root().commandLine();
        PrintWriter out = spec.commandLine().getOut();
        // One script serves both: under zsh it starts bash's completion system itself.
        out.println(AutoComplete.bash(root.getCommandName(), root));
        out.flush();
        return ExitCode.OK;
    }
}
