package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.run.SameProgram;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a command line that is longer than what Java reads of one in the process table: 4096 bytes. */
@Tag("programs")
class SameProgramTest {

    private static final String MAIN = "dev.gpuwarden.cli.Main";

    /** Prints the command, a word a line, with which it would start itself again. */
    static final class PrintsCommand {
        public static void main(String[] args) {
            SameProgram.run(Map.of(), "status").command().forEach(System.out::println);
        }
    }

    @Test
    void launcherPropertiesArePassedOn() throws Exception {
        List<String> command = commandOf("-Dorg.sqlite.lib.path=/a/b c", "-Djava.io.tmpdir=/tmp");
        assertThat(command)
                .contains("-Dorg.sqlite.lib.path=/a/b c", "-Djava.io.tmpdir=/tmp", classPath())
                .endsWith(MAIN, "status");
    }

    @Test
    void imageStartsByItsScript(@TempDir Path folder) throws Exception {
        Path script = Files.createDirectories(folder.resolve("bin")).resolve("gpuwarden");
        Files.createFile(script, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        assertThat(commandOf("-Dgpuwarden.home=" + folder)).containsExactly(script.toString(), "status");
    }

    private static String classPath() {
        return System.getProperty("java.class.path") + (File.pathSeparator + "/not there").repeat(400);
    }

    private static List<String> commandOf(String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath(), PrintsCommand.class.getName(), MAIN));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output.lines().toList();
    }
}
