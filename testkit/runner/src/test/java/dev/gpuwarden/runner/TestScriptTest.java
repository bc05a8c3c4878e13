package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arguments that `./gpuwarden test` refuses before it builds or installs anything. */
@Tag("programs")
class TestScriptTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--tier typo  | --tier: expected unit, programs, api, nodes, image or soak, seen typo",
                "--tier       | or soak, seen nothing",
                "--tier unit, | seen unit,",
                "--typo       | unknown option --typo",
                "--soak core  | unknown option core"
            })
    void aWrongOptionEndsWithTwo(String options, String complaint, @TempDir Path folder) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(System.getProperty("gpuwarden.repository") + "/gpuwarden", "test"));
        command.addAll(List.of(options.split(" ")));
        File output = folder.resolve("output").toFile();
        Process script = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        assertThat(script.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(output.toPath(), StandardCharsets.UTF_8)).contains(complaint);
        assertThat(script.exitValue()).isEqualTo(2);
    }
}
