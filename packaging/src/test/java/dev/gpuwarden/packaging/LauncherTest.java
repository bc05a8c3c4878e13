package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The options that the shipped launcher passes to Java. A script that prints them stands for Java. */
@Tag("programs")
class LauncherTest {

    @TempDir
    Path home;

    @BeforeEach
    void install() throws IOException {
        Path repository = Path.of(System.getProperty("gpuwarden.repository"));
        Files.createDirectories(home.resolve("bin"));
        Files.createDirectories(home.resolve("lib/aggregator"));
        Files.createDirectories(home.resolve("runtime/bin"));
        Files.copy(repository.resolve("packaging/src/main/image/bin/gpuwarden"), home.resolve("bin/gpuwarden"));
        executable(home.resolve("bin/gpuwarden"));
        Path java = home.resolve("runtime/bin/java");
        Files.writeString(java, "#!/bin/sh\ngrep SigIgn /proc/self/status\necho \"$@\"\n");
        executable(java);
    }

    private static void executable(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private String run(String... words) throws Exception {
        java.util.List<String> command = new java.util.ArrayList<>();
        command.add(home.resolve("bin/gpuwarden").toString());
        command.addAll(java.util.List.of(words));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private static boolean ignoresHangup(String output) {
        String mask =
                output.lines().findFirst().orElseThrow().replace("SigIgn:", "").strip();
        return (Long.parseUnsignedLong(mask, 16) & 1) == 1;
    }

    /** Java would end immediately with exit code 0, after which systemd does not start it again. */
    @ParameterizedTest
    @ValueSource(strings = {"daemon", "aggregator"})
    void aProgramThatIsLeftAloneOutlivesASession(String program) throws Exception {
        assertThat(ignoresHangup(run("--config", "x", program))).isTrue();
        assertThat(ignoresHangup(run("status")))
                .as("as whoever runs this test, who may have done so under nohup")
                .isEqualTo(ignoresHangup(Files.readString(Path.of("/proc/self/status"))
                        .lines()
                        .filter(line -> line.startsWith("SigIgn:"))
                        .findFirst()
                        .orElseThrow()));
    }

    @Test
    void helpBeginsWithHelp() throws Exception {
        assertThat(run("aggregator")).contains("CompilerDirectivesFile");
        assertThat(run("aggregator", "--help")).doesNotContain("CompilerDirectivesFile");
    }

    /** Standard output has the audit records of the aggregator, and nothing else. */
    @Test
    void javaItselfWritesNothingToStandardOutput() throws Exception {
        Path repository = Path.of(System.getProperty("gpuwarden.repository"));
        Files.copy(
                repository.resolve("packaging/src/main/image/lib/aggregator/compiler.json"),
                home.resolve("lib/aggregator/compiler.json"));
        Path java = Path.of(System.getProperty("java.home"), "bin/java");
        Files.writeString(home.resolve("runtime/bin/java"), "#!/bin/sh\nexec '" + java + "' \"$@\"\n");
        Path errors = home.resolve("errors");
        Process process = new ProcessBuilder(home.resolve("bin/gpuwarden").toString(), "aggregator")
                .redirectError(errors.toFile())
                .start();
        // There is no program in this folder, so Java ends with an error.
        assertThat(process.getInputStream().readAllBytes()).isEmpty();
        assertThat(process.waitFor()).isEqualTo(1);
        assertThat(Files.readString(errors)).contains("compiler directives added", "dev.gpuwarden.cli.Main");
    }
}
