package dev.gpuwarden.cli;

import static dev.gpuwarden.cli.SampleCommands.environment;
import static dev.gpuwarden.cli.SampleCommands.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.SampleCommands.Fall;
import dev.gpuwarden.cli.SampleCommands.Run;
import dev.gpuwarden.cli.SampleCommands.Serve;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

class ProgramTest {

    @Test
    void commandsGiveTheExitCode() {
        assertThat(run(SettingSources.none(), "serve").code()).isEqualTo(ExitCode.OK);
        assertThat(run(SettingSources.none(), "look").code()).isEqualTo(ExitCode.NOT_FIT);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            look --path.procsf=x | Unknown option: '--path.procsf=x' | Possible solutions: --path.procfs
            serv                 | Unmatched argument at index 0: 'serv' | Did you mean: gpuwarden serve
            look --path.procfs   | Missing required parameter for option '--path.procfs' | Try 'gpuwarden look --help'.
            look extra           | Unmatched argument at index 1: 'extra' | Try 'gpuwarden look --help'.
            config -o xml        | expected one of [table, json, yaml] | Try 'gpuwarden config --help'.
            completion fish      | expected one of [bash, zsh] | Try 'gpuwarden completion --help'.
            """)
    void wrongUsageExitsTwoWithTheRightUsage(String line, String message, String help) {
        Run run = run(SettingSources.none(), line.split(" "));
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).startsWith("gpuwarden: ").contains(message, help);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void missingCommandIsWrongUsageAndListsCommands() {
        Run run = run(SettingSources.none());
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("Usage: gpuwarden", "serve", "config");
    }

    @Test
    void userErrorsExitTwo() {
        Fall.with = () -> new UserError("no such GPU: 9");
        Run run = run(SettingSources.none(), "fall");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err().strip()).isEqualTo("gpuwarden: no such GPU: 9");
    }

    @Test
    void failuresExitOneWithOneLineOrTheStackOnRequest() {
        Fall.with = () -> new IllegalStateException("it broke\u001b[31m");
        Run run = run(SettingSources.none(), "fall");
        assertThat(run.code()).isEqualTo(ExitCode.NOT_FIT);
        assertThat(run.err().strip())
                .isEqualTo("gpuwarden: failed: it broke\\u001b[31m (GPUWARDEN_DEBUG=1 shows the stack trace)");
        assertThat(run(environment("GPUWARDEN_DEBUG", "1"), "fall").err())
                .contains("    at " + Fall.class.getName() + ".call");
    }

    @Command(name = "crash")
    static final class Crash implements Callable<Integer> {
        @Override
        public Integer call() {
            throw new NoClassDefFoundError("some/Missing");
        }
    }

    @Test
    void missingClassesAreAFailureToo() {
        Run run = runGroups(
                List.<CommandGroup>of(() -> List.of(new NamedCommand("crash", Crash::new)))
                        .iterator(),
                "crash");
        assertThat(run.code()).isEqualTo(ExitCode.NOT_FIT);
        assertThat(run.err()).contains("failed: some/Missing");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "-V"})
    void versionNamesProgramJavaAndSystem(String option) {
        Run run = run(SettingSources.none(), option);
        assertThat(run.code()).isZero();
        assertThat(run.out().lines())
                .satisfiesExactly(
                        line -> assertThat(line).matches("gpuwarden \\d+\\.\\d+\\.\\d+.*"),
                        line -> assertThat(line).startsWith("java " + System.getProperty("java.runtime.version")),
                        line -> assertThat(line).startsWith("os Linux "));
    }

    @Test
    void argumentsThatStartWithAtAreNoFiles() {
        assertThat(run(SettingSources.none(), "serve", "--web.listen-address", "@nowhere")
                        .serve()
                        .listen)
                .isEqualTo("@nowhere");
    }

    private static Run runGroups(Iterator<CommandGroup> groups, String... args) {
        return SampleCommands.run(SettingSources.none(), groups, new SampleCommands.Serve(), args);
    }

    private Iterator<CommandGroup> withBrokenProvider(Path folder) throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(
                services.resolve(CommandGroup.class.getName()),
                "dev.gpuwarden.nowhere.Gone\n" + SettingSources.class.getName() + "\n" + Working.class.getName()
                        + "\n");
        URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
        return ServiceLoader.load(CommandGroup.class, loader).iterator();
    }

    /** A provider that works beside two that do not. */
    public static final class Working implements CommandGroup {
        @Override
        public List<NamedCommand> commands() {
            return new SampleCommands().commands();
        }
    }

    @Test
    void brokenProvidersCostTheirOwnCommandsOnly(@TempDir Path folder) throws IOException {
        assertThat(runGroups(withBrokenProvider(folder), "look").code()).isEqualTo(ExitCode.NOT_FIT);
        assertThat(runGroups(withBrokenProvider(folder), "look").err()).isEmpty();
        Run unknown = runGroups(withBrokenProvider(folder), "scan");
        assertThat(unknown.code()).isEqualTo(ExitCode.USAGE);
        assertThat(unknown.err())
                .contains(
                        "some commands are missing: ",
                        "dev.gpuwarden.nowhere.Gone not found",
                        "SettingSources not a subtype");
        assertThat(runGroups(withBrokenProvider(folder), "--help").err()).contains("dev.gpuwarden.nowhere.Gone");
    }

    @Test
    void keysOfMissingCommandsAreNoMistakes(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "scan:\n  deep: true\n");
        Run doubtful = runGroups(withBrokenProvider(folder), "serve", "--config", file.toString());
        assertThat(doubtful.code()).isZero();
        assertThat(doubtful.err()).contains(file + ":2: unknown key scan.deep");
        assertThat(run(SettingSources.none(), "serve", "--config", file.toString())
                        .code())
                .isEqualTo(ExitCode.USAGE);
    }

    @Test
    void groupThatThrowsAndCommandThatPicocliRefusesAreNamed() {
        CommandGroup throwing = () -> {
            throw new IllegalStateException("no table");
        };
        CommandGroup notACommand = () -> List.of(new NamedCommand("note", () -> "text"));
        Run run = runGroups(List.of(throwing, notACommand, new SampleCommands()).iterator(), "scan");
        assertThat(run.err()).contains("no table", "note: ");
    }

    @Test
    void onlyTheCommandThatIsNamedIsMadeUntilHelpOrASettingOfAnotherNeedsAll() {
        AtomicInteger others = new AtomicInteger();
        CommandGroup group = () -> List.of(new NamedCommand("crash", () -> {
            others.incrementAndGet();
            return new Crash();
        }));
        List<CommandGroup> both = List.of(group, new SampleCommands());
        assertThat(runGroups(both.iterator(), "serve").code()).isZero();
        assertThat(runGroups(both.iterator(), "serve", "--help").out()).contains("--web.listen-address");
        assertThat(runGroups(both.iterator(), "--version").code()).isZero();
        assertThat(others).hasValue(0);
        assertThat(runGroups(both.iterator(), "--help").out()).contains("crash", "serve", "config", "help");
        assertThat(others).hasValue(1);
        Serve serve = new Serve();
        CommandGroup one = () -> List.of(new NamedCommand("serve", () -> serve));
        SampleCommands.run(
                environment("GPUWARDEN_WEB_THREADS", "7"), List.of(group, one).iterator(), serve, "serve");
        assertThat(serve.threads).isEqualTo(7);
        assertThat(others).hasValue(1);
        Run unknown = SampleCommands.run(
                environment("GPUWARDEN_WEB_THREAD", "7"), List.of(group, one).iterator(), serve, "serve");
        assertThat(unknown.err()).contains("did you mean GPUWARDEN_WEB_THREADS?");
        assertThat(others).hasValue(2);
    }

    @Command(name = "clash")
    static final class Clash implements Callable<Integer> {
        @Option(names = "--web.threads")
        Duration threads = Duration.ZERO;

        @Override
        public Integer call() {
            return 0;
        }
    }

    @Command(name = "unsplit")
    static final class Unsplit implements Callable<Integer> {
        @Option(names = "--some.names")
        List<String> names = List.of();

        @Override
        public Integer call() {
            return 0;
        }
    }

    @Test
    void commandsThatContradictEachOtherAreAMistakeInTheirCode() {
        CommandLine clash = new CommandLine(new SampleCommands.Serve()).addSubcommand(new Clash());
        assertThatThrownBy(() -> Settings.of(clash)).hasMessageContaining("--web.threads means different things");
        CommandLine unsplit = new CommandLine(new Unsplit());
        assertThatThrownBy(() -> Settings.of(unsplit)).hasMessageContaining("split");
    }

    @ParameterizedTest
    @CsvSource({"15s,15000", "500ms,500", "1h30m,5400000", "2d,172800000", "0,0", "0s,0"})
    void durationsAreReadAsWritten(String text, long millis) {
        assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(millis));
        assertThat(Durations.parse(Durations.text(Duration.ofMillis(millis)))).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "15", "s", "-1s", "1.5s", "1s ", "1x", "15sm", "PT15S", "99999999999999999999s"})
    void invalidDurationIsRefused(String text) {
        assertThatThrownBy(() -> Durations.parse(text)).hasMessageContaining("is not a duration");
    }
}
