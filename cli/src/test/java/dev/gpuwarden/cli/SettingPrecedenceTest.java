package dev.gpuwarden.cli;

import static dev.gpuwarden.cli.SampleCommands.environment;
import static dev.gpuwarden.cli.SampleCommands.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.SampleCommands.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingPrecedenceTest {

    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("gpuwarden.yaml"), text);
    }

    @Test
    void declaredDefaultsApplyWithoutOtherSources() {
        Run run = run(SettingSources.none(), "serve");
        assertThat(run.code()).isZero();
        assertThat(run.serve().listen).isEqualTo("0.0.0.0:9400");
        assertThat(run.serve().threads).isEqualTo(2);
        assertThat(run.serve().every).isEqualTo(Duration.ofSeconds(15));
    }

    @Test
    void fileBeatsDefaultAndEnvironmentBeatsFileAndFlagBeatsAll() throws IOException {
        Path file = file("web:\n  listen-address: from-file\n  threads: 3\ncheck:\n  every: 1m\n");
        SettingSources sources =
                environment("GPUWARDEN_WEB_LISTEN_ADDRESS", "from-environment", "GPUWARDEN_WEB_THREADS", "4");
        Run run = run(sources, "serve", "--config", file.toString(), "--web.threads=5");
        assertThat(run.err()).isEmpty();
        assertThat(run.serve().every).isEqualTo(Duration.ofMinutes(1));
        assertThat(run.serve().listen).isEqualTo("from-environment");
        assertThat(run.serve().threads).isEqualTo(5);
    }

    @Test
    void fileGivesEveryShapeOfSetting() throws IOException {
        Path file = file("""
                # a comment
                web:
                  tls: true
                check:
                  mode: fast
                  skip: [a, "b b", 010]
                path.procfs: /host/proc
                """);
        Run run = run(SettingSources.none(), "--config", file.toString(), "serve");
        assertThat(run.err()).isEmpty();
        assertThat(run.serve().tls).isTrue();
        assertThat(run.serve().mode).isEqualTo(SampleCommands.Mode.fast);
        assertThat(run.serve().skip).containsExactly("a", "b b", "010");
        assertThat(run.serve().procfs).isEqualTo(Path.of("/host/proc"));
    }

    @Test
    void fileIsFoundThroughVariableAndAtItsUsualPlace() throws IOException {
        Path file = file("web: {threads: 7}\n");
        assertThat(run(environment("GPUWARDEN_CONFIG", file.toString()), "serve")
                        .serve()
                        .threads)
                .isEqualTo(7);
        assertThat(run(new SettingSources(Map.of(), file), "serve").serve().threads)
                .isEqualTo(7);
    }

    @Test
    void flagForTheFileBeatsTheVariableForIt() throws IOException {
        Path file = file("web: {threads: 7}\n");
        Path other = Files.writeString(folder.resolve("other.yaml"), "web: {threads: 8}\n");
        Run run = run(environment("GPUWARDEN_CONFIG", file.toString()), "serve", "--config=" + other);
        assertThat(run.serve().threads).isEqualTo(8);
    }

    @Test
    void textWithDollarsAndQuotesArrivesAsWritten() throws IOException {
        Path file = file("web:\n  listen-address: '${env:HOME} $5 $$ \"q\" \\x'\n");
        Run run = run(SettingSources.none(), "serve", "--config", file.toString());
        assertThat(run.serve().listen).isEqualTo("${env:HOME} $5 $$ \"q\" \\x");
    }

    @Test
    void variableOfManyValuesIsSplitAtCommas() {
        assertThat(run(environment("GPUWARDEN_CHECK_SKIP", "a,b"), "serve").serve().skip)
                .containsExactly("a", "b");
    }

    @Test
    void emptyVariableCountsAsNotSet() {
        Run run = run(environment("GPUWARDEN_WEB_THREADS", "", "GPUWARDEN_PLAIN", ""), "serve");
        assertThat(run.code()).isZero();
        assertThat(run.serve().threads).isEqualTo(2);
    }

    @Test
    void oneSettingOfTwoCommandsReachesBoth() throws IOException {
        Path file = file("path:\n  procfs: /host/proc\n");
        assertThat(run(SettingSources.none(), "look", "--config", file.toString())
                        .code())
                .isEqualTo(ExitCode.NOT_FIT);
    }

    /** The command's own text: Duration would write PT15S. */
    @Test
    void helpOfConfigHasReadableDefaults() {
        assertThat(run(SettingSources.none(), "config", "--help").out())
                .contains("How often (at least 10ms; default: 15s).");
    }

    @Test
    void effectiveSettingsNameTheirOrigin() throws IOException {
        Path file = file("web:\n  listen-address: from-file\ncheck:\n  skip:\n    - a\n    - b\n");
        Run run = run(
                environment("GPUWARDEN_WEB_THREADS", "4"),
                "config",
                "--config=" + file,
                "--path.procfs",
                "/p",
                "-o",
                "json");
        assertThat(run.code()).isZero();
        assertThat(run.out()).isEqualToNormalizingNewlines("""
                {
                  "schema": "gpuwarden.config/v1",
                  "file": "%1$s",
                  "settings": {
                    "check.every": {
                      "value": "15s",
                      "from": "default",
                      "variable": "GPUWARDEN_CHECK_EVERY"
                    },
                    "check.mode": {
                      "value": "slow",
                      "from": "default",
                      "variable": "GPUWARDEN_CHECK_MODE"
                    },
                    "check.skip": {
                      "value": [
                        "a",
                        "b"
                      ],
                      "from": "%1$s:4",
                      "variable": "GPUWARDEN_CHECK_SKIP"
                    },
                    "path.procfs": {
                      "value": "/p",
                      "from": "flag --path.procfs",
                      "variable": "GPUWARDEN_PATH_PROCFS"
                    },
                    "web.listen-address": {
                      "value": "from-file",
                      "from": "%1$s:2",
                      "variable": "GPUWARDEN_WEB_LISTEN_ADDRESS"
                    },
                    "web.most": {
                      "value": "1MiB",
                      "from": "default",
                      "variable": "GPUWARDEN_WEB_MOST"
                    },
                    "web.threads": {
                      "value": "4",
                      "from": "environment GPUWARDEN_WEB_THREADS",
                      "variable": "GPUWARDEN_WEB_THREADS"
                    },
                    "web.tls": {
                      "value": "false",
                      "from": "default",
                      "variable": "GPUWARDEN_WEB_TLS"
                    }
                  }
                }
                """.formatted(file));
    }

    @Test
    void effectiveSettingsPrintAsATable() {
        Run run = run(environment("GPUWARDEN_CHECK_SKIP", "a,b"), "config", "--web.threads=9");
        assertThat(run.out())
                .contains("web.threads         9             flag --web.threads")
                .contains("check.skip          a,b           environment GPUWARDEN_CHECK_SKIP");
    }
}
