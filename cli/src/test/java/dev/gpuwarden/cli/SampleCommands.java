package dev.gpuwarden.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands with settings of every shape, and a way to run them as the program would. */
final class SampleCommands implements CommandGroup {

    enum Mode {
        slow,
        fast
    }

    @Command(name = "serve", mixinStandardHelpOptions = true)
    static final class Serve implements Callable<Integer> {
        @Option(names = "--web.listen-address", defaultValue = "0.0.0.0:9400")
        String listen = "";

        @Bounds(from = "1", to = "64")
        @Option(names = "--web.threads", defaultValue = "2")
        int threads;

        @Option(names = "--web.tls", defaultValue = "false")
        boolean tls;

        @Bounds(from = "10ms")
        @Option(names = "--check.every", defaultValue = "15s", description = "How often (default: ${DEFAULT-VALUE}).")
        Duration every = Duration.ZERO;

        @Bounds(from = "64KiB", to = "1GiB")
        @Option(
                names = "--web.most",
                defaultValue = "1MiB",
                converter = ByteSizes.class,
                description = "Largest answer.")
        long most;

        @Option(names = "--check.mode", defaultValue = "slow")
        Mode mode = Mode.slow;

        @Option(names = "--check.skip", split = ",")
        List<String> skip = List.of();

        @Option(names = "--path.procfs", defaultValue = "/proc")
        Path procfs = Path.of("/");

        @Option(names = "--plain", defaultValue = "p")
        String plain = "";

        boolean ran;

        @Override
        public Integer call() {
            ran = true;
            return ExitCode.OK;
        }
    }

    @Command(name = "look", mixinStandardHelpOptions = true)
    static final class Look implements Callable<Integer> {
        @Option(names = "--path.procfs", defaultValue = "/proc")
        Path procfs = Path.of("/");

        @Override
        public Integer call() {
            return ExitCode.NOT_FIT;
        }
    }

    @Command(name = "fall", mixinStandardHelpOptions = true)
    static final class Fall implements Callable<Integer> {
        static Supplier<RuntimeException> with = IllegalStateException::new;

        @Override
        public Integer call() {
            throw with.get();
        }
    }

    final Serve serve = new Serve();

    @Override
    public List<NamedCommand> commands() {
        return List.of(
                new NamedCommand("serve", () -> serve),
                new NamedCommand("look", Look::new),
                new NamedCommand("fall", Fall::new));
    }

    /** The output of one run. */
    record Run(int code, String out, String err, Serve serve) {}

    static Run run(SettingSources sources, String... args) {
        SampleCommands group = new SampleCommands();
        return run(sources, List.<CommandGroup>of(group).iterator(), group.serve, args);
    }

    static Run run(SettingSources sources, Iterator<CommandGroup> groups, Serve serve, String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine(sources, groups);
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        int code = line.execute(args);
        return new Run(code, out.toString(), err.toString(), serve);
    }

    static SettingSources environment(String... namesAndValues) {
        Map<String, String> environment = new java.util.HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            environment.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return new SettingSources(environment, SettingSources.none().defaultFile());
    }
}
