package dev.gpuwarden.cli;

import static dev.gpuwarden.cli.SampleCommands.environment;
import static dev.gpuwarden.cli.SampleCommands.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.SampleCommands.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrictConfigurationTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            web:\\n  listen-adress: x             | :2: unknown key web.listen-adress, did you mean web.listen-address?
            wbe:\\n  threads: 3                   | :2: unknown key wbe.threads, did you mean web.threads?
            colour: red                           | :1: unknown key colour
            web: 5                                | :1: web is a section: expected keys under it, such as web.listen-address
            web:\\n  threads: many                | :2: Invalid value for web.threads: 'many' is not an int
            web:\\n  threads: 65                  | :2: web.threads: expected 1 to 64, found 65
            check:\\n  every: 9ms                 | :2: check.every: expected at least 10ms, found 9ms
            web:\\n  most: 32KiB                  | :2: web.most: expected 64KiB to 1GiB, found 32KiB
            web:\\n  tls: yes                     | :2: web.tls: expected true or false, found 'yes'
            check:\\n  every: 15                  | :2: Invalid value for check.every: '15' is not a duration such as 500ms, 15s or 1h30m
            check:\\n  mode: medium               | :2: Invalid value for check.mode: expected one of [slow, fast] (case-sensitive) but was 'medium'
            web:\\n  threads: [1]                 | :2: web.threads: expected one value, found a list
            web:\\n  threads:                     | :2: web.threads: expected a value, found nothing
            web:\\n  threads: {a: 1}              | :2: unknown key web.threads.a, did you mean web.threads?
            check:\\n  skip: [a, [b]]             | :2: check.skip: expected a value in the list, found a list
            check:\\n  skip: ["a,b"]              | :2: check.skip: a value of a list must not contain ','
            web:\\n  threads: 1\\n  threads: 2    | :3: duplicate key web.threads, first on line 2
            web:\\n  threads: 1\\nweb.threads: 2  | :3: duplicate key web.threads, first on line 2
            - a                                   | :1: expected sections with keys, found a list
            web: &a\\n  threads: 1\\ncheck: *a    | :1: expected no aliases and at most 16 nested sections
            web: &a\\n  b: *a                     | :1: expected no aliases and at most 16 nested sections
            [a, b]: 1                             | :1: a key must be a word
            web: [                                | :1: not YAML:
            a: b: c                               | :1: not YAML:
            web: {}\\n---\\nweb: {}               | :2: not YAML:
            """)
    void mistakesStopTheCommandAndNameTheirPlace(String yaml, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), yaml.replace("\\n", "\n"));
        Run run = run(SettingSources.none(), "serve", "--config", file.toString());
        assertThat(run.err()).contains("gpuwarden: " + file + message);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.serve().ran).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "config"})
    void flagOutOfItsRangeStopsTheCommand(String command) {
        Run run = run(SettingSources.none(), command, "--web.threads=0");
        assertThat(run.err()).isEqualToIgnoringNewLines("gpuwarden: --web.threads: expected 1 to 64, found 0");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.serve().ran).isFalse();
        assertThat(run(SettingSources.none(), command, "--web.threads=64").code())
                .isZero();
    }

    @Test
    void helpHasRanges() {
        assertThat(run(SettingSources.none(), "serve", "--help").out().replaceAll("\\s+", " "))
                .contains("How often (at least 10ms; default: 15s).", "Largest answer. (64KiB to 1GiB)");
    }

    @ParameterizedTest
    @CsvSource({
        "GPUWARDEN_WEB_LISTEN_ADRESS, ', did you mean GPUWARDEN_WEB_LISTEN_ADDRESS?'",
        "GPUWARDEN_COLOUR, ''",
        "GPUWARDEN_PLAIN, ''"
    })
    void unknownVariableIsAMistake(String name, String meant) {
        Run run = run(environment(name, "x"), "serve");
        assertThat(run.err().strip())
                .isEqualTo("gpuwarden: environment " + name + ": no setting has this variable" + meant);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.serve().ran).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GPUWARDEN_PORT",
                "GPUWARDEN_SERVICE_HOST",
                "GPUWARDEN_AGGREGATOR_SERVICE_PORT_INGEST",
                "GPUWARDEN_AGGREGATOR_PORT_9403_TCP_ADDR",
                "GPUWARDEN_JAVA_OPTS",
                "GPUWARDEN_RUN",
                "GPUWARDEN_SIM"
            })
    void variablesOfServicesAndOfScriptsAreNoMistake(String name) {
        assertThat(run(environment(name, "x"), "serve").code()).isZero();
    }

    @Test
    void allMistakesAreReportedTogether() throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "web:\n  threads: x\n  tlss: true\n");
        Run run = run(environment("GPUWARDEN_CHECK_EVERY", "soon"), "serve", "--config", file.toString());
        assertThat(run.err().lines()).hasSize(3).allMatch(line -> line.startsWith("gpuwarden: "));
        assertThat(run.err()).contains(":2:", ":3:", "environment GPUWARDEN_CHECK_EVERY: Invalid value");
    }

    @Test
    void commentsAndEmptySectionsAreNoMistake() throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "web:\n#  threads: 1\ncheck: {}\n");
        assertThat(run(SettingSources.none(), "serve", "--config", file.toString())
                        .code())
                .isZero();
        Files.writeString(file, "# nothing\n");
        assertThat(run(SettingSources.none(), "serve", "--config", file.toString())
                        .code())
                .isZero();
    }

    @Test
    void namedFileMustExistAndBeReadable() {
        Path missing = folder.resolve("missing.yaml");
        Run run = run(SettingSources.none(), "serve", "--config", missing.toString());
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains(missing + ": no such file");
        assertThat(run(environment("GPUWARDEN_CONFIG", missing.toString()), "fall")
                        .code())
                .isEqualTo(ExitCode.USAGE);
        assertThat(run(SettingSources.none(), "serve", "--config", folder.toString())
                        .err())
                .contains(folder + ": Is a directory");
    }

    @Test
    void bytesOutsideUtf8AreRefused() throws IOException {
        Path file = Files.write(folder.resolve("c.yaml"), new byte[] {(byte) 0xc3, 0x28, 0, 1});
        assertThat(run(SettingSources.none(), "serve", "--config", file.toString())
                        .err())
                .contains("not YAML");
    }

    @Test
    void helpWorksWithABrokenFile() throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "web: [\n");
        Run run = run(SettingSources.none(), "serve", "--config", file.toString(), "--help");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("Usage: gpuwarden serve");
    }

    @Test
    void wrongFlagIsReportedAsAFlag() {
        Run run = run(SettingSources.none(), "serve", "--web.threads=x");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("option '--web.threads'").contains("'x' is not an int");
    }
}
