package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Cluster;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("nodes")
@Timeout(900)
class ClusterCommandTest {

    private record Answer(int code, String text) {}

    /** Not the user's own temporary folder, where another cluster may run. */
    @TempDir
    Path temporary;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @AfterEach
    void down() throws Exception {
        run("down");
    }

    @Test
    void clusterStartsAcceptsFaultsAndLeavesNothingAfterKill() throws Exception {
        assertThat(run("status"))
                .isEqualTo(new Answer(2, "gpuwarden: no cluster runs; start one with `gpuwarden cluster up`\n"));
        Path folder = temporary.resolve("gpuwarden-cluster-" + System.getProperty("user.name"));

        assertThat(run("up", "--scenario", "nothing").text()).contains("nothing");
        assertThat(folder).doesNotExist();

        Answer up = run("up", "--nodes", "1", "--scenario", "h100x8");
        assertThat(up.text()).contains("control plane", "node-1", "export KUBECONFIG=" + folder);
        assertThat(up.code()).isZero();
        assertThat(run("status", "-o", "json").text()).contains("\"name\": \"node-1\"", "\"ready\": \"True\"");
        assertThat(run("up").text()).startsWith("gpuwarden: a cluster with node-1 runs");

        assertThat(run("inject", "node-1", "xid=79", "--gpu", "4").code()).isZero();
        assertThat(run("inject", "node-1", "NVRM: a line of {gpu.3}").code()).isZero();
        assertThat(folder.resolve("cluster/node-1/gpus/dev/kmsg"))
                .content()
                .containsPattern("Xid \\(PCI:.*\\): 79")
                .containsPattern("NVRM: a line of 0000:..:00");
        assertThat(run("inject", "node-9", "xid=79").text())
                .contains("\"node-9\": expected a node of the cluster: node-1");

        ProcessHandle holder = holder(folder);
        List<ProcessHandle> all = parts(holder);
        holder.destroyForcibly();
        assertThat(run("up").code()).isZero();
        assertThat(all).noneMatch(ProcessHandle::isAlive);

        List<ProcessHandle> others = parts(holder(folder));
        assertThat(run("down")).isEqualTo(new Answer(0, ""));
        assertThat(folder).doesNotExist();
        others.forEach(part -> part.onExit().orTimeout(10, TimeUnit.SECONDS).join());
        assertThat(run("env").code()).isEqualTo(2);
    }

    private static ProcessHandle holder(Path folder) throws IOException {
        Properties notes = new Properties();
        try (Reader reader = Files.newBufferedReader(folder.resolve("holder.properties"))) {
            notes.load(reader);
        }
        return ProcessHandle.of(Long.parseLong(notes.getProperty("pid"))).orElseThrow();
    }

    /** All processes of the cluster, those inside its node too. */
    private static List<ProcessHandle> parts(ProcessHandle holder) {
        List<ProcessHandle> parts = holder.descendants().toList();
        assertThat(parts).anyMatch(part -> part.info().command().orElse("").endsWith("/kubelet"));
        return parts;
    }

    /** The program as a user runs it; its background process gets the same temporary folder with its options. */
    private Answer run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djava.io.tmpdir=" + temporary,
                "-Dgpuwarden.native.dir=" + System.getProperty("gpuwarden.native.dir"),
                "dev.gpuwarden.cli.Main",
                "cluster"));
        command.addAll(List.of(arguments));
        // Not -cp: a long command line cannot be read back by the program that starts itself again.
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(process.waitFor(), text);
    }
}
