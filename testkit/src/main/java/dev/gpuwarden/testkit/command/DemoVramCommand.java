package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import dev.gpuwarden.testkit.sim.RunningNodes;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Demonstrates VRAM budgets on a server without a cluster: two real processes share a simulated T4, and one grows. */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description = {
            "Show VRAM budgets on a simulated node with one T4, which two processes share.",
            "One grows beyond its budget until little memory is free: the daemon must end it, and the other must stay.",
            "Takes fifteen seconds; `demo` has it too."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the process over its budget ended, and the other stayed", "1:another one ended, or none"})
final class DemoVramCommand implements Callable<Integer> {

    private static final String BUDGETS = """
            tenants:
              - process: immich-ml
                budget: 3000Mi
              - process: llama-swap
                budget: 5000Mi
            """;

    private static final int ENDING_SECONDS = 60;
    /** Exit code of a Java program that SIGTERM ended. */
    private static final int TERMINATED = 143;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        return play(spec.commandLine().getOut()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Plays the act, and returns whether the right process ended. */
    static boolean play(PrintWriter out) throws InterruptedException {
        Deque<Process> started = new ArrayDeque<>();
        try (SimulatedNode node = RunningNodes.ofUser()
                .start(Scenarios.find("t4", NativeFiles.find().vocabulary()))) {
            Runnable close = node::close;
            Thread onSignal = new Thread(() -> {
                started.forEach(Process::destroy);
                close.run();
            });
            Runtime.getRuntime().addShutdownHook(onSignal);
            try {
                return played(node, started, out);
            } finally {
                started.forEach(Process::destroy);
                for (Process process : started) {
                    process.waitFor();
                }
                DemoCommand.forget(onSignal);
            }
        }
    }

    private static boolean played(SimulatedNode node, Deque<Process> started, PrintWriter out)
            throws InterruptedException {
        Path budgets = node.root().resolve("budgets.yaml");
        Unchecked.get(() -> Files.writeString(budgets, BUDGETS));
        out.println("a node with one T4; immich-ml has a budget of 3000 MiB, llama-swap of 5000 MiB");
        Path log = node.root().resolve("daemon.log");
        started.push(start(
                node,
                log,
                "daemon",
                "--web.listen-address=127.0.0.1:0",
                "--vram.budgets=" + budgets,
                "--vram.mode=armed",
                "--vram.grace=5s"));
        Process victim = start(node, node.root().resolve("llama-swap.log"), use("llama-swap", 2500));
        started.push(victim);
        Process culprit = start(node, node.root().resolve("immich-ml.log"), use("immich-ml", 8500, "--grow=150MiB/s"));
        started.push(culprit);
        out.println("immich-ml has 8500 MiB and takes 150 MiB more each second ...");
        out.flush();
        boolean ended = culprit.waitFor(ENDING_SECONDS, TimeUnit.SECONDS) && culprit.exitValue() == TERMINATED;
        boolean stayed = victim.isAlive();
        show(node, out, "vram", "top", "--by=process");
        show(node, out, "vram", "explain");
        out.println(
                ended && stayed
                        ? "immich-ml was ended, and llama-swap has room"
                        : "expected that immich-ml ends by SIGTERM and llama-swap stays; the daemon's log:\n"
                                + Unchecked.get(() -> Files.readString(log)));
        out.flush();
        return ended && stayed;
    }

    private static String[] use(String name, int mebibytes, String... more) {
        String[] all = {"sim", "use", "--gpu=0", "--name=" + name, "--mib=" + mebibytes};
        String[] arguments = Arrays.copyOf(all, all.length + more.length);
        System.arraycopy(more, 0, arguments, all.length, more.length);
        return arguments;
    }

    private static Process start(SimulatedNode node, Path log, String... arguments) {
        return Unchecked.get(() -> SameProgram.run(node.environment(), arguments)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start());
    }

    private static void show(SimulatedNode node, PrintWriter out, String... arguments) throws InterruptedException {
        out.println("$ gpuwarden " + String.join(" ", arguments));
        Execution shown = Execution.of(Unchecked.get(() -> SameProgram.run(node.environment(), arguments)
                .redirectErrorStream(true)
                .start()));
        out.println(shown.output());
        out.flush();
    }
}
