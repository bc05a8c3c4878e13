package dev.gpuwarden.cli;

import dev.gpuwarden.core.SuppressForbidden;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The main class: finds all commands on the class path and runs the one that the command line names. */
@Command(
        name = "gpuwarden",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Detects GPU faults, attributes GPU memory, and takes unhealthy nodes out of service.")
public final class Main {

    @Option(
            names = "--config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "Configuration file (GPUWARDEN_CONFIG; /etc/gpuwarden/gpuwarden.yaml if it exists).")
    @Nullable Path config;

    Main() {}

    @SuppressForbidden("this is the one place that ends the process")
    public static void main(String[] args) {
        CommandLine line = commandLine();
        line.setOut(ConsoleWriter.out());
        line.setErr(ConsoleWriter.err());
        int code = line.execute(args);
        line.getOut().flush();
        line.getErr().flush();
        Runtime.getRuntime().halt(code);
    }

    /** Returns the whole command line with this process's environment and configuration file. */
    public static CommandLine commandLine() {
        return new Program(new Main(), Commands.onPath(), SettingSources.ofProcess());
    }

    /** Returns the whole command line with other sources of settings. */
    public static CommandLine commandLine(SettingSources sources) {
        return new Program(new Main(), Commands.onPath(), sources);
    }

    /** Returns a command line of these groups alone. */
    public static CommandLine commandLine(SettingSources sources, Iterator<CommandGroup> groups) {
        return new Program(new Main(), Commands.of(groups), sources);
    }

    Optional<Path> configFile() {
        return Optional.ofNullable(config);
    }
}
