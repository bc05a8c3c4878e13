package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.Golden;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class VramLintCommandTest {

    private static final String BUDGET =
            "{name: c, resources: {limits: {nvidia.com/gpu: 1, gpuwarden.dev/vram-mib: %s}}}";

    @TempDir
    Path folder;

    @Test
    void tableMatchesTheGoldenFile() throws IOException {
        Program lint = workloads("--largest-card=13374MiB", "--used=immich/immich-machine-learning=2100MiB");
        assertThat(lint.exitCode()).isEqualTo(1);
        Golden.check("vram/lint.txt", lint.out());
    }

    @Test
    void jsonMatchesTheGoldenFile() throws IOException {
        Program lint = workloads("--used=web/none=1GiB", "-o", "json");
        assertThat(lint.exitCode()).isEqualTo(1);
        Golden.check("vram/lint.json", lint.out());
    }

    private Program workloads(String... options) throws IOException {
        try (InputStream in = VramLintCommandTest.class.getResourceAsStream("/lint/workloads.yaml")) {
            return lint(new String(in.readAllBytes(), StandardCharsets.UTF_8), options);
        }
    }

    @ParameterizedTest
    @CsvSource({"Recreate, 5000, 0, 0", "RollingUpdate, 5000, 0, 1", "Recreate, 1.5, 1, 1", "Recreate, 99999, 1, 1"})
    void exitCodeShowsFaultsAndWithStrictWarnings(String strategy, String budget, int exitCode, int strict)
            throws IOException {
        String text = "kind: Deployment\nmetadata: {name: a}\nspec: {strategy: {type: " + strategy
                + "}, template: {spec: {containers: [" + String.format(BUDGET, budget) + "]}}}\n";
        assertThat(lint(text, "--largest-card=13374MiB").exitCode()).isEqualTo(exitCode);
        assertThat(lint(text, "--largest-card=13374MiB", "--strict").exitCode()).isEqualTo(strict);
    }

    /** HAMi's `gpumem` is MiB, and `gpucores` percent, of the one GPU. */
    @Test
    void sharesOfAGpuAreNotCounted() throws IOException {
        Program lint = lint(
                "kind: Pod\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 3000,"
                        + " nvidia.com/gpucores: 30, gpuwarden.dev/vram-mib: 9000}}}]}\n",
                "-o",
                "json");
        assertThat(lint.exitCode()).isZero();
        assertThat(lint.out()).contains("\"gpus\": 1,", "\"findings\": []");
    }

    @Test
    void anObjectThatIsNotReadLeavesTheResultOpen() throws IOException {
        Program lint =
                lint("kind: RayCluster\nmetadata: {name: ray}\nspec: {groups: [" + String.format(BUDGET, "5") + "]}\n");
        assertThat(lint.exitCode()).isEqualTo(3);
        assertThat(lint.out()).contains("note: workloads.yaml:1: RayCluster ray has the resource");
    }

    @Test
    void withoutAnyBudgetTheNameOfTheResourceIsInDoubt() throws IOException {
        Program lint =
                lint("kind: Pod\nspec: {containers: [" + String.format(BUDGET, "5") + "]}\n", "--resource=a.b/c");
        assertThat(lint.exitCode()).isZero();
        assertThat(lint.out()).contains("no workload has the resource a.b/c; --resource takes another name");
    }

    @Test
    void severalFilesAreOneSet() throws IOException {
        Path one = Files.writeString(
                folder.resolve("1.yaml"), "kind: Pod\nspec: {containers: [" + String.format(BUDGET, "5") + "]}\n");
        Path two = Files.writeString(
                folder.resolve("2.json"), "{\"kind\": \"PodList\", \"items\": [{\"spec\": {\"containers\": []}}]}");
        Program lint = Program.run("vram", "lint", one.toString(), two.toString());
        assertThat(lint.out()).endsWith("0 findings in 2 workloads, 1 with a budget\n");
        assertThat(lint.exitCode()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "- 1",
                "a: [",
                "kind: Pod\nspec: hello",
                "kind: Pod\nspec: {containers: {name: x}}",
                "kind: Pod\nspec: {containers: [{resources: {limits: {gpuwarden.dev/vram-mib: [1]}}}]}"
            })
    void aFileThatIsNoManifestIsNamedWithItsLine(String text) throws IOException {
        Program lint = lint(text);
        assertThat(lint.exitCode()).isEqualTo(2);
        assertThat(lint.err()).contains("workloads.yaml:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--used=a/b=7", "--used=a=7MiB", "--used=a/b", "--largest-card=13374", "--used=/=1MiB"})
    void wrongOptionsAreUsageErrors(String option) throws IOException {
        Program lint = lint("kind: Pod\n", option);
        assertThat(lint.exitCode()).isEqualTo(2);
        assertThat(lint.err()).contains("--");
    }

    @Test
    void missingFilesAreUsageErrors() {
        assertThat(Program.run("vram", "lint").exitCode()).isEqualTo(2);
        assertThat(Program.run("vram", "lint", "/nonexistent").err()).contains("/nonexistent: no such file");
        assertThat(Program.run("vram", "lint", folder.toString()).err()).contains("expected a file");
    }

    @Test
    void namesCannotMoveTheCursor() throws IOException {
        Program lint = lint("kind: Pod\nmetadata: {name: \"\\e[2J\"}\nspec: {containers: ["
                + String.format(BUDGET, "\"\\e[1m\"") + "]}\n");
        assertThat(lint.out()).contains("\\u001b[2J").doesNotContain("\u001b");
    }

    @Test
    void standardInputIsAFile() {
        byte[] text = ("kind: Pod\nspec: {containers: [" + String.format(BUDGET, "5") + "]}\n")
                .getBytes(StandardCharsets.UTF_8);
        CommandLine line = new CommandLine(new VramLintCommand(() -> new ByteArrayInputStream(text)));
        StringWriter out = new StringWriter();
        line.setOut(new PrintWriter(out));
        assertThat(line.execute("-", "-o", "json")).isZero();
        assertThat(out.toString()).contains("\"origin\": \"standard input:1\"");
    }

    /** Names the file "workloads.yaml" in its output, wherever it is. */
    private Program lint(String text, String... options) throws IOException {
        Path file = Files.writeString(folder.resolve("workloads.yaml"), text);
        List<String> all = new ArrayList<>(List.of("vram", "lint", file.toString()));
        all.addAll(List.of(options));
        Program lint = Program.run(all.toArray(String[]::new));
        return new Program(
                lint.exitCode(),
                lint.out().replace(file.toString(), "workloads.yaml"),
                lint.err().replace(file.toString(), "workloads.yaml"));
    }
}
