package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Output;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that reads a file and prints the result. */
@Command(mixinStandardHelpOptions = true, exitCodeListHeading = "%nExit codes:%n")
abstract class FileCommand implements Callable<Integer> {

    @Mixin
    Output output = new Output();

    @Spec
    CommandSpec spec = CommandSpec.create();

    void show(Object tree, Consumer<PrintWriter> table) {
        output.write(spec.commandLine().getOut(), tree, table);
    }
}
