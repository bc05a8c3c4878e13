package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads the script into a real bash and calls its function as the shell does; only compopt needs a key press to work. */
class CompletionTest {

    @TempDir
    Path folder;

    private List<String> complete(String shell, String... words) throws IOException, InterruptedException {
        Path script = Files.writeString(
                folder.resolve("completion.sh"),
                SampleCommands.run(SettingSources.none(), "completion", shell).out());
        String quoted = List.of(words).stream().map(w -> "'" + w + "'").collect(Collectors.joining(" "));
        Process bash = new ProcessBuilder(
                        "bash",
                        "--norc",
                        "-c",
                        "compopt() { :; }; source '" + script + "'; COMP_WORDS=(" + quoted + "); COMP_CWORD="
                                + (words.length - 1)
                                + "; COMP_LINE=\"${COMP_WORDS[*]}\"; _complete_gpuwarden; printf '%s\\n' \"${COMPREPLY[@]}\"")
                .redirectErrorStream(true)
                .start();
        String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(out).isZero();
        List<String> replies = new ArrayList<>(out.lines().map(String::strip).toList());
        replies.remove("");
        return replies;
    }

    @Test
    void commandsAreCompleted() throws Exception {
        assertThat(complete("bash", "gpuwarden", "")).contains("serve", "look", "config", "completion", "help");
        assertThat(complete("bash", "gpuwarden", "se")).containsExactly("serve");
    }

    @Test
    void optionsAndTheirValuesAreCompleted() throws Exception {
        assertThat(complete("bash", "gpuwarden", "serve", "--web.l")).containsExactly("--web.listen-address");
        assertThat(complete("zsh", "gpuwarden", "serve", "--check.mode", "")).containsExactly("slow", "fast");
        assertThat(complete("bash", "gpuwarden", "config", "-o", "j")).containsExactly("json");
        assertThat(complete("bash", "gpuwarden", "config", "--path.p")).containsExactly("--path.procfs");
    }
}
