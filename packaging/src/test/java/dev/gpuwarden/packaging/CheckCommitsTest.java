package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `./gpuwarden check-commits`, on messages and on a repository. */
@Tag("programs")
class CheckCommitsTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));
    private static final String READ =
            ". " + quoted("testkit/src/main/sh/commits.sh") + "; say() { echo \"$*\" >&2; }; ";

    @TempDir
    Path folder;

    private record Run(int code, String output) {}

    private static String quoted(String path) {
        return "'" + REPOSITORY.resolve(path) + "'";
    }

    private Run bash(String input, String... command) throws Exception {
        List<String> words = new ArrayList<>(List.of("bash", "-euo", "pipefail", "-c"));
        words.addAll(List.of(command));
        ProcessBuilder builder =
                new ProcessBuilder(words).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C.UTF-8");
        Process process = builder.start();
        process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), output);
    }

    @Test
    void goodMessagesPass() throws Exception {
        String longest = "Report " + "x".repeat(65);
        Run run = bash(
                "1\nAdd a check\0" + "2\n" + longest + "\n\nBody of any\nform.\n\0" + "3\nPass the deadline on\0"
                        + "4\nRe-read the Node\n\0",
                READ + "check_messages");
        assertThat(run.output()).isEqualTo("4 commits, 0 with a fault\n");
        assertThat(run.code()).isZero();
    }

    @Test
    void eachFaultIsNamed() throws Exception {
        Run run = bash(
                "1\nReport " + "x".repeat(66) + "\0" + "2\nAdded a check\0" + "3\nfix it\0" + "4\nThe daemon waits\0"
                        + "5\nAdd a check\nand more\0" + "6\n\0" + "7\nstore: Keep it\0" + "8\nFixes a leak\0",
                READ + "check_messages");
        assertThat(run.output())
                .contains(
                        "the subject has 73 characters, expected at most 72",
                        "begins with \"Added\"",
                        "begins with \"fix\"",
                        "begins with \"The\"",
                        "5 Add a check\n    the second line is not blank",
                        "the subject is empty",
                        "begins with \"store:\"",
                        "begins with \"Fixes\"",
                        "8 commits, 8 with a fault");
        assertThat(run.code()).isEqualTo(1);
    }

    @Test
    void aRangeOfARepositoryIsChecked() throws Exception {
        String commit = "git -c user.name=n -c user.email=e@localhost commit -q --allow-empty -m ";
        Run run = bash(
                "",
                "git init -q . && " + commit + "'one' && " + commit + "'Add two' && " + commit + "'three' && "
                        + quoted("gpuwarden") + " check-commits HEAD~2..HEAD || echo ended with $?; "
                        + quoted("gpuwarden") + " check-commits nowhere..HEAD || echo ended with $?");
        assertThat(run.output())
                .contains("begins with \"three\"", "2 commits, 1 with a fault\nended with 1\n")
                .contains("nowhere..HEAD: git has no such range\nended with 2\n");
    }
}
