package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.Durations;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Demonstrates the daemon on a simulated node, and checks that it detects every fault there. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        subcommands = {
            DemoClusterCommand.class,
            DemoComputeCommand.class,
            DemoRepairCommand.class,
            DemoVramCommand.class
        },
        description = {
            "Show the daemon on a simulated node with eight GPUs while faults occur there.",
            "A GPU is lost and comes back, one hangs, a pod fills one, a memory row fails, a link flaps, a program floods the kernel log.",
            "Each fault must show in metrics, on the page, in answers over gRPC and in the history, with its recommended action,",
            "and must disappear when it is repaired. Then a process that grows beyond its VRAM budget must end,",
            "and a daemon must reset a GPU by itself.",
            "At last the checks that give work to GPUs must name one that computes wrong",
            "and one that is slow, on another node. Takes two minutes, with --fast one minute; needs no GPU."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every step was visible in metrics, page and commands", "1:a step was not visible"})
final class DemoCommand implements Callable<Integer> {

    private static final Duration STARTING = Duration.ofSeconds(30);
    /** Beyond two ticks, for a busy machine; shorter than the storms of the scenario, without which faults end. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration POLL = Duration.ofMillis(100);

    @Option(
            names = "--keep",
            description =
                    "Keep node and daemon running until interrupted, to explore and to change them with `sim set`.")
    boolean keep;

    @Option(names = "--fast", description = "Start each step as soon as the last one was visible everywhere.")
    boolean fast;

    @Spec
    CommandSpec spec = CommandSpec.create();

    /** Released by a signal. */
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Override
    public Integer call() throws InterruptedException {
        try (SimulatedNode node = RunningNodes.ofUser()
                        .start(Scenarios.find("demo", NativeFiles.find().vocabulary()));
                NodeDemoDaemon daemon =
                        NodeDemoDaemon.start(node, fast ? NodeDemoStep.SHORT_QUIET : NodeDemoStep.QUIET)) {
            List<AutoCloseable> parts = List.of(daemon, node);
            Thread onSignal = new Thread(() -> endAll(parts));
            Runtime.getRuntime().addShutdownHook(onSignal);
            try {
                return play(node, daemon, spec.commandLine().getOut());
            } finally {
                forget(onSignal);
            }
        }
    }

    private void endAll(List<AutoCloseable> parts) {
        stopped.countDown();
        for (AutoCloseable part : parts) {
            try {
                part.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Removes a hook; waits for its end where a signal has started it. */
    static void forget(Thread onSignal) throws InterruptedException {
        try {
            Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (IllegalStateException signalled) {
            onSignal.join();
        }
    }

    private int play(SimulatedNode node, NodeDemoDaemon daemon, PrintWriter out) throws InterruptedException {
        printLine(out, "simulated node of scenario demo in " + node.root());
        if (!await(STARTING, () -> !daemon.running() || NodeDemoStep.ALL.get(0).matches(daemon.metrics()))
                || !daemon.running()) {
            printLine(out, "the daemon did not start:\n" + daemon.log());
            return ExitCode.NOT_FIT;
        }
        String address = daemon.address().orElse("");
        printLine(out, "the daemon runs; open its page: " + address + "/ (Prometheus scrapes " + address + "/metrics)");
        List<String> missed = new ArrayList<>();
        int late = 0;
        Duration at = Duration.ZERO;
        long since = System.nanoTime();
        for (NodeDemoStep step : NodeDemoStep.ALL) {
            // From step to step: on a slow machine the next step waits for the checks of the last.
            long wait = since + step.at().minus(at).toNanos() - System.nanoTime();
            if (stopped.await(fast ? 0 : wait, TimeUnit.NANOSECONDS)) {
                return ExitCode.NOT_FIT;
            }
            at = step.at();
            since = System.nanoTime();
            NodeDemoStep.Result result = perform(step, node, daemon, out);
            result.missed().forEach(place -> missed.add(Durations.text(step.at()) + " in " + place));
            late += result.late() ? 1 : 0;
        }
        if (!missed.isEmpty()) {
            printLine(out, "not visible: " + String.join(", ", missed) + "; the daemon's log:\n" + daemon.log());
        } else {
            printLine(
                    out,
                    "every step was visible on the page, in every command and in metrics, "
                            + (late == 0
                                    ? "within two ticks"
                                    : late + " of " + NodeDemoStep.ALL.size()
                                            + " later than two ticks: this machine is busy"));
        }
        printLine(out, "");
        boolean bounded = stopped.getCount() > 0 && DemoVramCommand.play(out);
        printLine(out, "");
        boolean repaired = stopped.getCount() > 0 && DemoRepairCommand.play(out);
        printLine(out, "");
        Path report = Unchecked.get(() -> Files.createTempFile("gpuwarden-report-", ".html"));
        boolean computed = stopped.getCount() > 0 && DemoComputeCommand.play(out, report);
        if (keep) {
            linger(node, daemon, out);
        }
        if (missed.isEmpty() && bounded && repaired && computed) {
            return ExitCode.OK;
        }
        // Again at the end, because a log often keeps no more.
        printLine(
                out,
                "the demo failed: " + missed.size() + " of " + NodeDemoStep.places()
                        + " parts of the node's day not visible"
                        + (missed.isEmpty() ? "" : " (" + String.join(", ", missed) + ")")
                        + (bounded ? "" : ", the tenant over its budget not ended")
                        + (repaired ? "" : ", the broken GPU not reset")
                        + (computed ? "" : ", the GPUs that compute wrong or slowly not named"));
        return ExitCode.NOT_FIT;
    }

    /** Plays a step and repeats its checks until they succeed or the limit is over. */
    private NodeDemoStep.Result perform(NodeDemoStep step, SimulatedNode node, NodeDemoDaemon daemon, PrintWriter out)
            throws InterruptedException {
        printLine(out, "\n" + Durations.text(step.at()) + ": " + step.title());
        node.advanceTo(step.at());
        node.play(step.at(), step.next());
        long since = System.nanoTime();
        long end = since + step.limit().plus(PATIENCE).toNanos();
        boolean metrics = await(step.limit().plus(PATIENCE), () -> step.matches(daemon.metrics()));
        Duration took = Duration.ofNanos(System.nanoTime() - since);
        Map<NodeDemoStep.Check, String> outputs;
        NodeDemoStep.Result result;
        do {
            outputs = answers(step.checks(), node);
            result = NodeDemoStep.Result.of(step, metrics, took, daemon.page(), outputs);
        } while (!result.missed().isEmpty() && System.nanoTime() - end < 0 && stopped.getCount() > 0);
        Set<List<String>> printed = new HashSet<>();
        outputs.forEach((check, output) -> {
            if (printed.add(check.arguments())) {
                printLine(out, "\n$ gpuwarden " + String.join(" ", check.arguments()));
                out.print(output.isEmpty() ? "shows nothing\n" : check.excerpt(output));
            }
        });
        printLine(out, result.text());
        return result;
    }

    /** Runs the commands in parallel and returns their outputs. */
    private static Map<NodeDemoStep.Check, String> answers(List<NodeDemoStep.Check> checks, SimulatedNode node)
            throws InterruptedException {
        Map<List<String>, Process> asked = new LinkedHashMap<>();
        checks.forEach(check -> asked.computeIfAbsent(check.arguments(), unused -> ask(check, node)));
        Map<List<String>, String> outputs = new HashMap<>();
        for (Map.Entry<List<String>, Process> one : asked.entrySet()) {
            outputs.put(one.getKey(), answer(one.getValue()));
        }
        Map<NodeDemoStep.Check, String> answers = new LinkedHashMap<>();
        checks.forEach(check -> answers.put(check, outputs.getOrDefault(check.arguments(), "")));
        return answers;
    }

    private static Process ask(NodeDemoStep.Check check, SimulatedNode node) {
        List<String> arguments = new ArrayList<>(check.arguments());
        if (check.name().equals("scan")) {
            arguments.addAll(List.of(
                    "--sampling.deadline", Durations.text(NodeDemoStep.DEADLINE), "--driver.open-deadline", "2s"));
        }
        return Unchecked.get(() -> SameProgram.run(node.environment(), arguments.toArray(String[]::new))
                .redirectErrorStream(true)
                .start());
    }

    /** Returns the output; empty after a usage error, which shows nothing about the node. */
    private static String answer(Process asked) throws InterruptedException {
        Execution program = Execution.of(asked);
        return program.code() == ExitCode.USAGE ? "" : program.output();
    }

    private void linger(SimulatedNode node, NodeDemoDaemon daemon, PrintWriter out) throws InterruptedException {
        printLine(out, "\nstill running; stop with Ctrl-C. In another terminal:");
        printLine(out, "  " + daemon.address().orElse("") + "/ is the page, /metrics is for Prometheus");
        printLine(out, "  gpuwarden sim set gpu.4.temperature=97C gpu.6.xid=79");
        Map<String, String> environment = node.environment();
        printLine(out, "  GPUWARDEN_GRPC_SOCKET=" + environment.get("GPUWARDEN_GRPC_SOCKET") + " gpuwarden status");
        printLine(
                out,
                "  "
                        + environment.entrySet().stream()
                                .filter(e -> e.getKey().startsWith("GPUWARDEN_PATH_")
                                        || e.getKey().equals("LD_LIBRARY_PATH"))
                                .map(e -> e.getKey() + "=" + e.getValue())
                                .collect(Collectors.joining(" "))
                        + " gpuwarden scan");
        daemon.await();
    }

    /** Polls the condition; returns false after the limit or a signal. */
    private boolean await(Duration limit, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0 || stopped.await(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }

    private static void printLine(PrintWriter out, String line) {
        out.println(line);
        out.flush();
    }
}
