package dev.gpuwarden.cli;

import java.util.function.Supplier;

/**
 * A command that is made when a command line names it: to describe all of them takes 0.2 s of processor.
 *
 * @param name the first word of the command line; the one that the command's own annotation has
 * @param command makes an object annotated with picocli's {@code @Command}, or a line of such objects. It is a
 *     {@code Callable<Integer>} that returns an exit code
 */
public record NamedCommand(String name, Supplier<Object> command) {}
