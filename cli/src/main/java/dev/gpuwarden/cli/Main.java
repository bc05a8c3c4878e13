package dev.gpuwarden.cli;

import java.io.PrintWriter;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Finds every command on the path and runs the one that is asked for. */
@Command(
        name = "gpuwarden",
        mixinStandardHelpOptions = true,
        description = "Finds GPU faults, says whose memory it is, and keeps a fleet fit.",
        subcommands = CommandLine.HelpCommand.class)
public final class Main {

    private Main() {}

    @SuppressForbidden("this is the one place that ends the process")
    public static void main(String[] args) {
        int code = commandLine().execute(args);
        Runtime.getRuntime().halt(code);
    }

    /** The whole command line, for tests and for shell completion. */
    public static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main());
        for (CommandGroup group : ServiceLoader.load(CommandGroup.class)) {
            group.commands().forEach(line::addSubcommand);
        }
        line.setExecutionExceptionHandler(Main::onException);
        return line;
    }

    private static int onException(Exception e, CommandLine line, CommandLine.ParseResult parsed) throws Exception {
        if (e instanceof UserError) {
            PrintWriter err = line.getErr();
            err.println("gpuwarden: " + e.getMessage());
            err.flush();
            return ExitCode.USAGE;
        }
        throw e;
    }
}
