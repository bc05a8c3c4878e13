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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the program at work on a simulated node, and checks that it sees everything that happens there. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        subcommands = DemoClusterCommand.class,
        description = {
            "Show the daemon on a simulated node with eight GPUs while things go wrong there: a GPU is lost and comes back,",
            "one hangs, a pod fills one, a memory row fails, a link flaps, a program floods the kernel log.",
            "Each is looked for in metrics, on the page, in answers over gRPC and in the history, with what to do about it,",
            "and must be gone when it is mended. Takes two minutes, with --fast half a minute; needs no GPU."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything that happened was seen within two ticks, in metrics, page and commands",
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

    @Option(
            names = "--fast",
            description = "Leave no time to look: what happens next happens as soon as the last was seen everywhere.")
    boolean fast;

    @Spec
    CommandSpec spec = CommandSpec.create();

    /** Released when the process is told to end. */
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Override
    public Integer call() throws InterruptedException {
        try (SimulatedNode node = RunningNodes.ofUser()
                        .start(Scenarios.find("demo", NativeFiles.find().vocabulary()));
                DemoDaemon daemon = DemoDaemon.start(node, fast ? DemoAct.SHORT_QUIET : DemoAct.QUIET)) {
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
        String address = daemon.address().orElse("");
        say(out, "the daemon runs; watch its page: " + address + "/ (Prometheus reads " + address + "/metrics)");
        int missed = 0;
        Duration at = Duration.ZERO;
        long since = System.nanoTime();
        for (DemoAct act : DemoAct.ALL) {
            // From act to act: on a slow machine the next one waits until the last one was looked at.
            long wait = since + act.at().minus(at).toNanos() - System.nanoTime();
            if (stopped.await(fast ? 0 : wait, TimeUnit.NANOSECONDS)) {
                return ExitCode.NOT_FIT;
            }
            at = act.at();
            since = System.nanoTime();
            missed += perform(act, node, daemon, out);
        }
        say(
                out,
                missed == 0
                        ? "all of it was seen, in metrics within two ticks, on the page and by every command"
                        : "not seen: " + missed + " of " + DemoAct.places() + "; the daemon's log:\n" + daemon.log());
        if (keep) {
            linger(node, daemon, out);
        }
        return missed == 0 ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Lets it happen and looks for it. Returns how many of the places do not show it. */
    private int perform(DemoAct act, SimulatedNode node, DemoDaemon daemon, PrintWriter out)
            throws InterruptedException {
        say(out, "\n" + Durations.text(act.at()) + ": " + act.what());
        node.advanceTo(act.at());
        node.play(act.at(), act.next());
        long since = System.nanoTime();
        boolean metrics = await(act.limit(), () -> act.seenIn(daemon.metrics()));
        double seconds = (System.nanoTime() - since) / 1e9;
        Map<String, Boolean> seen = new TreeMap<>();
        if (!act.page().isEmpty()) {
            seen.put("page", act.seenOnPage(daemon.page()));
        }
        Map<List<String>, Process> asked = new HashMap<>();
        act.looks().forEach(look -> asked.computeIfAbsent(look.arguments(), unused -> ask(look, node)));
        Map<List<String>, String> outputs = new HashMap<>();
        for (DemoLook look : act.looks()) {
            String output = outputs.get(look.arguments());
            if (output == null) {
                output = answer(Objects.requireNonNull(asked.get(look.arguments())));
                outputs.put(look.arguments(), output);
                say(out, "\n$ gpuwarden " + String.join(" ", look.arguments()));
                out.print(output.isEmpty() ? "shows nothing\n" : look.excerpt(output));
            }
            seen.merge(look.name(), look.sign().seenIn(output), Boolean::logicalAnd);
        }
        seen.put("metrics", metrics);
        say(out, told(seen, seconds, act.limit()));
        return (int) seen.values().stream().filter(shown -> !shown).count();
    }

    private static String told(Map<String, Boolean> seen, double seconds, Duration limit) {
        String text = String.format(Locale.ROOT, "-> after %.1f s of %d s", seconds, limit.toSeconds());
        for (Map.Entry<String, Boolean> place : seen.entrySet()) {
            text += (place.getValue() ? ", seen in " : ", NOT SEEN IN ") + place.getKey();
        }
        return text;
    }

    private static Process ask(DemoLook look, SimulatedNode node) {
        List<String> arguments = new ArrayList<>(look.arguments());
        if (look.name().equals("scan")) {
            arguments.addAll(
                    List.of("--sampling.deadline", Durations.text(DemoAct.DEADLINE), "--driver.open-deadline", "2s"));
        }
        try {
            return SameProgram.run(node.environment(), arguments.toArray(String[]::new))
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was asked wrongly says nothing about the node. */
    private static String answer(Process asked) throws InterruptedException {
        try {
            String output = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return asked.waitFor() == ExitCode.USAGE ? "" : output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void linger(SimulatedNode node, DemoDaemon daemon, PrintWriter out) throws InterruptedException {
        say(out, "\nstill running; stop with Ctrl-C. From another terminal:");
        say(out, "  " + daemon.address().orElse("") + "/ is the page, /metrics what Prometheus reads");
        say(out, "  gpuwarden sim set gpu.4.temperature=97C gpu.6.xid=79");
        Map<String, String> environment = node.environment();
        say(out, "  GPUWARDEN_GRPC_SOCKET=" + environment.get("GPUWARDEN_GRPC_SOCKET") + " gpuwarden status");
        say(
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
