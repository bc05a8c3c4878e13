package dev.gpuwarden.cli;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import picocli.CommandLine;

/** The commands of all modules on the class path, except those that cannot be loaded. */
final class Commands {

    /** More broken providers than there are modules mean that the loader is in an endless loop. */
    private static final int MAX_FAILURES = 32;

    private final List<NamedCommand> found = new ArrayList<>();
    private final Set<String> failures = new LinkedHashSet<>();

    private Commands() {}

    /** Returns the commands that {@link ServiceLoader} finds. A broken module loses only its own commands. */
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

    boolean has(String name) {
        return found.stream().anyMatch(command -> command.name().equals(name));
    }

    /** Adds the command with this name to a program that does not have it yet; a command that cannot be made is a failure. */
    void add(String name, Program program) {
        found.stream().filter(command -> command.name().equals(name)).forEach(command -> add(command, program));
    }

    void addAll(Program program) {
        found.forEach(command -> add(command, program));
    }

    private void add(NamedCommand command, Program program) {
        CommandLine there = program.getSubcommands().get(command.name());
        if (there != null && !isShared(command.name())) {
            return;
        }
        try {
            Object made = command.command().get();
            if (there == null) {
                program.addSubcommand(command.name(), made);
            } else {
                join(there, made);
            }
        } catch (RuntimeException | LinkageError e) {
            failures.add(command.name() + ": " + reason(e));
        }
    }

    /** Returns true if several modules have subcommands of this command. */
    private boolean isShared(String name) {
        return found.stream().filter(command -> command.name().equals(name)).count() > 1;
    }

    /** Adds the subcommands of another module's command of the same name. The description is that of the first. */
    private static void join(CommandLine there, Object made) {
        CommandLine other = made instanceof CommandLine line ? line : new CommandLine(made);
        other.getSubcommands().forEach((name, subcommand) -> {
            if (!there.getSubcommands().containsKey(name)) {
                there.addSubcommand(name, subcommand);
            }
        });
    }

    /**
     * Returns the reasons for missing commands, in words for the user: of the commands that were added, and of all
     * groups that failed to load.
     */
    List<String> failures() {
        return List.copyOf(failures);
    }

    private static String reason(Throwable e) {
        Throwable cause = e.getCause();
        String text = e.getMessage() == null ? e.getClass().getName() : e.getMessage();
        return cause == null ? text : text + " (" + cause + ")";
    }
}
