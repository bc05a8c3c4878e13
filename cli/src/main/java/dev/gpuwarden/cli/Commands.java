package dev.gpuwarden.cli;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import picocli.CommandLine.PicocliException;

/** The commands of every module on the path, as far as they can be had. */
final class Commands {

    /** More broken providers than there are modules: the loader itself is going round in circles. */
    private static final int MAX_FAILURES = 32;

    private final List<Object> found = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    private Commands() {}

    /** Those that {@link ServiceLoader} finds. A module that is broken costs its own commands. */
    static Commands onPath() {
        return of(ServiceLoader.load(CommandGroup.class).iterator());
    }

    static Commands of(Iterator<CommandGroup> groups) {
        Commands commands = new Commands();
        while (commands.failures.size() < MAX_FAILURES) {
            try {
                if (!groups.hasNext()) {
                    break;
                }
                commands.found.addAll(groups.next().commands());
            } catch (ServiceConfigurationError | LinkageError | RuntimeException e) {
                commands.failures.add(reason(e));
            }
        }
        return commands;
    }

    /** Adds all of them below a program; a command that picocli refuses is a failure too. */
    void addTo(Program program) {
        for (Object command : found) {
            try {
                program.addSubcommand(command);
            } catch (PicocliException | LinkageError e) {
                failures.add(command.getClass().getName() + ": " + reason(e));
            }
        }
    }

    /** Why some commands are missing, for people. */
    List<String> failures() {
        return failures;
    }

    private static String reason(Throwable e) {
        Throwable cause = e.getCause();
        String text = e.getMessage() == null ? e.getClass().getName() : e.getMessage();
        return cause == null ? text : text + " (" + cause + ")";
    }
}
