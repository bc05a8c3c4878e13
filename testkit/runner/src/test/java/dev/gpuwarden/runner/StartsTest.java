package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StartsTest {

    @TempDir
    Path proc;

    private void process(int number, String name, String... words) throws IOException {
        process(number, 1, name, words);
    }

    private void process(int number, int parent, String name, String... words) throws IOException {
        Path folder = Files.createDirectories(proc.resolve(Integer.toString(number)));
        Files.writeString(folder.resolve("comm"), name + "\n");
        Files.writeString(folder.resolve("stat"), number + " (" + name + ") S " + parent + " 0 0");
        Files.writeString(folder.resolve("cmdline"), String.join("\0", words) + "\0");
    }

    @Test
    void eachIsCountedOnceByWhatItBecomes() throws IOException {
        process(1, "bash");
        Starts starts = new Starts(proc);
        process(2, "java");
        process(3, "kube-apiserver");
        starts.poll();
        process(2, "kubectl", "kubectl", "get");
        process(4, "kubectl", "kubectl", "get");
        process(5, 3, "kube-apiserver");
        starts.poll();
        starts.poll();
        assertThat(starts.text()).isEqualTo("2 kubectl, 1 API servers");
    }

    @Test
    void daemonsAndBrowsersAreRecognisedByTheirArguments() {
        assertThat(Starts.kind("java", List.of("java", "-cp", "x", "dev.gpuwarden.cli.Main", "daemon", "--web")))
                .contains("daemons");
        assertThat(Starts.kind("java", List.of("java", "dev.gpuwarden.cli.Main", "scan")))
                .contains("other JVMs");
        assertThat(Starts.kind("chromium", List.of("chromium", "--user-data-dir=x")))
                .contains("browsers");
        assertThat(Starts.kind("chromium", List.of("chromium", "--type=zygote", "--user-data-dir=x")))
                .isEmpty();
        assertThat(Starts.kind("bash", List.of("bash"))).isEmpty();
    }
}
