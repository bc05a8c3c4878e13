package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import dev.gpuwarden.testkit.sim.RunningNodes;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the program at work on a simulated node, and checks that it sees everything that happens there. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = {
            "Show the daemon and scan on a simulated node with eight GPUs while things go wrong there:",
            "a GPU is lost and comes back, one hangs and recovers, a pod fills one and goes. Takes a minute, needs no GPU."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything that happened was seen within two ticks, in metrics and table",
            "1:something was not seen"
        })
final class DemoCommand implements Callable<Integer> {

    private static final Duration STARTING = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(100);

    @Option(
            names = "--keep",
            description =
                    "Afterwards leave node and daemon running until interrupted, to look at and to change with `sim set`.")
    boolean keep;

    @Spec
    CommandSpec spec = CommandSpec.create();

    /** Released when the process is told to end. */
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Override
    public Integer call() throws InterruptedException {
        try (SimulatedNode node = RunningNodes.ofUser()
                        .start(Scenarios.find("demo", NativeFiles.find().vocabulary()));
                DemoDaemon daemon = DemoDaemon.start(node)) {
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

    private static void forget(Thread onSignal) throws InterruptedException {
        try {
            Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (IllegalStateException signalled) {
            onSignal.join();
        }
    }

    private int play(SimulatedNode node, DemoDaemon daemon, PrintWriter out) throws InterruptedException {
        say(out, "simulated node of scenario demo in " + node.root());
        if (!await(STARTING, () -> !daemon.running() || DemoAct.ALL.get(0).seenIn(daemon.metrics()))
                || !daemon.running()) {
            say(out, "the daemon did not start:\n" + daemon.log());
            return ExitCode.NOT_FIT;
        }
        say(out, "daemon serves " + daemon.address().orElse("nothing") + "/metrics");
        int missed = 0;
        long start = System.nanoTime();
        node.play();
        for (DemoAct act : DemoAct.ALL) {
            long wait = start + act.at().toNanos() - System.nanoTime();
            if (stopped.await(wait, TimeUnit.NANOSECONDS)) {
                return ExitCode.NOT_FIT;
            }
            missed += perform(act, node, daemon, out);
        }
        say(
                out,
                missed == 0
                        ? "all of it was seen, in metrics within two ticks and in the table"
                        : "not seen: " + missed + " of " + 2 * DemoAct.ALL.size() + "; the daemon's log:\n"
                                + daemon.log());
        if (keep) {
            linger(node, daemon, out);
        }
        return missed == 0 ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Lets it happen and looks for it. Returns how many of the two places do not show it. */
    private int perform(DemoAct act, SimulatedNode node, DemoDaemon daemon, PrintWriter out)
            throws InterruptedException {
        say(out, "\n" + Durations.text(act.at()) + ": " + act.what());
        node.advanceTo(act.at()); // in case the timeline's own thread is late
        long since = System.nanoTime();
        boolean metrics = await(act.limit(), () -> act.seenIn(daemon.metrics()));
        double seconds = (System.nanoTime() - since) / 1e9;
        String table = scan(node);
        out.print(table);
        boolean row = act.row().matcher(table).find();
        say(
                out,
                String.format(
                        Locale.ROOT,
                        "metrics: %s %.1f s (two ticks are %d s); table: %s",
                        metrics ? "seen after" : "NOT SEEN within",
                        seconds,
                        act.limit().toSeconds(),
                        row ? "seen" : "NOT SEEN"));
        return (metrics ? 0 : 1) + (row ? 0 : 1);
    }

    private static String scan(SimulatedNode node) throws InterruptedException {
        ProcessBuilder scan = SameProgram.run(
                        node.environment(),
                        "scan",
                        "--sampling.deadline",
                        Durations.text(DemoAct.DEADLINE),
                        "--driver.open-deadline",
                        "2s")
                .redirectErrorStream(true);
        try {
            Process process = scan.start();
            String table = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return table;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void linger(SimulatedNode node, DemoDaemon daemon, PrintWriter out) throws InterruptedException {
        say(out, "\nstill running; stop with Ctrl-C. From another terminal:");
        say(out, "  curl -s " + daemon.address().orElse("") + "/metrics");
        say(out, "  gpuwarden sim set gpu.4.temperature=97C gpu.6.state=lost");
        say(
                out,
                "  "
                        + node.environment().entrySet().stream()
                                .map(e -> e.getKey() + "=" + e.getValue())
                                .collect(java.util.stream.Collectors.joining(" "))
                        + " gpuwarden scan");
        daemon.await();
    }

    /** Looks again and again; false when the time is over or the process is told to end. */
    private boolean await(Duration limit, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0 || stopped.await(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }

    private static void say(PrintWriter out, String line) {
        out.println(line);
        out.flush();
    }
}
