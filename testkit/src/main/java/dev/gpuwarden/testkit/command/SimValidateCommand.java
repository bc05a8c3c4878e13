package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks scenario files. */
@Command(
        name = "validate",
        mixinStandardHelpOptions = true,
        description = {
            "Check scenario files: their text, and that the node with its whole timeline can be made.",
            "Shows all mistakes of a file, each as FILE:LINE:COLUMN."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:no mistakes", "2:mistakes"})
final class SimValidateCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Scenario files.")
    List<String> files = List.of();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        for (String file : files) {
            try (SimulatedNode node = SimulatedNode.start(file)) {
                node.advanceTo(Duration.ofSeconds(Long.MAX_VALUE));
                Scenario scenario = node.scenario();
                spec.commandLine()
                        .getOut()
                        .println(file + ": " + scenario.gpus().size() + " GPUs, "
                                + scenario.processes().size() + " processes, "
                                + scenario.faults().size() + " faults, "
                                + scenario.timeline().size() + " steps");
            }
        }
        return ExitCode.OK;
    }
}
