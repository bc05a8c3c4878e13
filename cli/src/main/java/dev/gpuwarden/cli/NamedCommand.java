package dev.gpuwarden.cli;

import java.util.function.Supplier;

/**
 * A command that is made when a command line names it, since describing all commands takes 0.2 s of processor time.
 *
 * @param name the first word of the command line, equal to the name in the command's own annotation. If several modules have a
 *     command of this name, all their subcommands are in the first
 * @param command makes an object annotated with picocli's {@code @Command}, or a line of such objects. It is a
 *     {@code Callable<Integer>} that returns an exit code
 */
public record NamedCommand(String name, Supplier<Object> command) {}
