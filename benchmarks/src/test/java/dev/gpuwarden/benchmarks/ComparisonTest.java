package dev.gpuwarden.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Runs the Python tests of the comparison in gpu-acceptance, which is in Python for machines without Java. */
class ComparisonTest {

    @Test
    void testsInPythonPass() throws IOException, InterruptedException {
        assumeThat(Arrays.stream(System.getenv("PATH").split(":"))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "python3"))))
                .as("python3 is installed")
                .isTrue();
        Process tests = new ProcessBuilder("python3", "-B", "-m", "unittest", "discover", "src/test/python")
                .redirectErrorStream(true)
                .start();
        String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tests.waitFor()).as(output).isZero();
        assertThat(output).containsPattern("Ran [1-9][0-9]* tests");
    }
}
