package dev.gpuwarden.testkit.command;

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
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** An act of the demo: a simulated node, and processes of this program that use it and end with the act. */
final class DemoAct {

    private final SimulatedNode node;
    private final Map<String, String> environment;
    private final PrintWriter out;
    private final Deque<Process> started = new ArrayDeque<>();

    private DemoAct(SimulatedNode node, Map<String, String> more, PrintWriter out) {
        this.node = node;
        this.out = out;
        this.environment = new HashMap<>(node.environment());
        environment.putAll(more);
    }

    /** The course of an act. */
    interface Course {
        /** Returns whether the act ended as it must. */
        boolean play(DemoAct act) throws InterruptedException;
    }

    /**
     * Plays an act on a new node, also up to a signal, and ends its processes and its node.
     *
     * @param more variables of its processes
     */
    static boolean play(String scenario, Map<String, String> more, PrintWriter out, Course course)
            throws InterruptedException {
        try (SimulatedNode node = RunningNodes.ofUser()
                .start(Scenarios.find(scenario, NativeFiles.find().vocabulary()))) {
            DemoAct act = new DemoAct(node, more, out);
            Runnable close = node::close;
            Thread onSignal = new Thread(() -> {
                act.started.forEach(Process::destroy);
                close.run();
            });
            Runtime.getRuntime().addShutdownHook(onSignal);
            try {
                return course.play(act);
            } finally {
                act.started.forEach(Process::destroy);
                for (Process process : act.started) {
                    process.waitFor();
                }
                DemoCommand.forget(onSignal);
            }
        }
    }

    SimulatedNode node() {
        return node;
    }

    void print(String line) {
        out.println(line);
        out.flush();
    }

    /** @param name of its log */
    Process start(String name, String... arguments) {
        return start(name, Map.of(), arguments);
    }

    /** @param more variables of this process alone */
    Process start(String name, Map<String, String> more, String... arguments) {
        Map<String, String> all = new HashMap<>(environment);
        all.putAll(more);
        Process process = Unchecked.get(() -> SameProgram.run(all, arguments)
                .redirectErrorStream(true)
                .redirectOutput(log(name).toFile())
                .start());
        started.push(process);
        return process;
    }

    /** Returns what a process has printed. */
    String output(String name) {
        return Unchecked.get(() -> Files.readString(log(name)));
    }

    private Path log(String name) {
        return node.root().resolve(name + ".log");
    }

    /** Runs a command, prints it with its output, and returns its exit code. */
    int show(String... arguments) throws InterruptedException {
        print("$ gpuwarden " + String.join(" ", arguments));
        Execution shown = Execution.of(Unchecked.get(() -> SameProgram.run(environment, arguments)
                .redirectErrorStream(true)
                .start()));
        print(shown.output());
        return shown.code();
    }
}
