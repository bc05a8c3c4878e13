package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import dev.gpuwarden.testkit.sim.RunningNodes;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a program on a simulated node. */
@Command(
        name = "exec",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "",
        description = {
            "Run any program on a simulated node: it finds the simulated driver library in place of the real one.",
            "The scenario's timeline plays while it runs; `sim set` changes the node from outside.",
            "  gpuwarden sim exec h100x8 -- nvidia-smi",
            "  gpuwarden sim exec demo -- gpuwarden daemon",
            "  gpuwarden sim exec --set gpu.3.temperature=91C h100x8 -- gpuwarden scan"
        },
        exitCodeListHeading = "%nExit code:%n",
        exitCodeList = {
            "N:that of the program; 128 + signal if one killed it",
            "2:no such scenario or program",
            "0:ended by --for"
        })
final class SimExecCommand implements Callable<Integer> {

    /** Limit of a program's end after SIGTERM. */
    static final int GRACE_SECONDS = 5;

    @Parameters(index = "0", paramLabel = "SCENARIO", description = "A name from `sim list`, or a .yaml file.")
    String scenario = "";

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "The program and its arguments, after --.")
    List<String> command = List.of();

    @Option(names = "--for", paramLabel = "DURATION", description = "End the program after this time, for example 30s.")
    @Nullable Duration limit;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Set this at the start, as `sim set` would; may be given more than once.")
    Map<String, String> changes = new LinkedHashMap<>();

    private @Nullable Process program;

    @Override
    public Integer call() throws InterruptedException {
        Scenario wanted = Scenarios.find(scenario, NativeFiles.find().vocabulary());
        try (SimulatedNode node = RunningNodes.ofUser().start(wanted)) {
            Thread onSignal = new Thread(() -> endAll(node::close));
            Runtime.getRuntime().addShutdownHook(onSignal);
            try {
                if (!changes.isEmpty()) {
                    node.control().set(changes);
                }
                Process running = start(node);
                node.play();
                return await(running);
            } finally {
                DemoCommand.forget(onSignal);
            }
        }
    }

    private synchronized Process start(SimulatedNode node) {
        Process started = start(command, node.environment());
        program = started;
        return started;
    }

    /** Starts a program with more variables, and with the standard streams of this one. */
    static Process start(List<String> command, Map<String, String> variables) {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().putAll(variables);
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UserError("\"" + command.get(0) + "\": expected a program: " + e.getMessage());
        }
    }

    /** Ends the program on a signal too, before the node is deleted. */
    private synchronized void endAll(Runnable closeNode) {
        if (program != null) {
            Execution.end(program, GRACE_SECONDS);
        }
        closeNode.run();
    }

    private int await(Process program) throws InterruptedException {
        Duration time = limit;
        if (time == null || program.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
            return program.waitFor();
        }
        Execution.end(program, GRACE_SECONDS);
        return ExitCode.OK;
    }
}
