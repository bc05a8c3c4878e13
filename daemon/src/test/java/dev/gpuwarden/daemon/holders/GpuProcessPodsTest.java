package dev.gpuwarden.daemon.holders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.process.NodeTree;
import dev.gpuwarden.checks.process.OpenFiles;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.ProcessSearch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real process with an open file, and the files of a node by which its pod is found. */
@Tag("programs")
class GpuProcessPodsTest {

    private static final String UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

    @TempDir
    Path folder;

    @Test
    void searchThatSeesNoProcessesIsNoAnswer() throws IOException {
        NodeTree node = new NodeTree(folder);
        Files.createDirectories(node.paths().procfs().resolve("self"));
        GpuProcessPods pods =
                new GpuProcessPods(() -> NodeFixture.node(2), new ProcessOwners(node.paths()), folder.resolve("dev"));
        assertThat(pods.get())
                .isEqualTo(new ProcessSearch(List.of(), Optional.of("processes are hidden from this user (hidepid)")));
    }

    /** The driver lists no GPU after a failure, and one GPU without a UUID. */
    @Test
    void aProcessWithAGpuThatTheDriverDoesNotListIsAReason() {
        NodeTree node = new NodeTree(folder)
                .process(70, 500, "python", "0::/kubepods/burstable/pod" + UID + "/" + "c".repeat(64))
                .process(71, 500, "nvidia-persiste", "0::/system.slice/nvidia-persistenced.service")
                .pod("ml", "squatter-0", UID, "main");
        Path known = folder.resolve("dev/nvidia0");
        GpuProcessPods pods = new GpuProcessPods(
                () -> NodeFixture.node(0), new ProcessOwners(node.paths(), node.clock()), folder.resolve("dev"));
        ProcessSearch none = pods.found(new OpenFiles.Search(Map.of(), Set.of(70, 71), Optional.empty()), Map.of());
        assertThat(none.found()).isEmpty();
        assertThat(none.missing().orElseThrow())
                .startsWith("has a GPU open that the driver does not list: process 70 (python) of pod ml/squatter-0")
                .doesNotContain("71");
        ProcessSearch some = pods.found(
                new OpenFiles.Search(Map.of(70, Set.of(known)), Set.of(70), Optional.empty()), Map.of(known, "GPU-a"));
        assertThat(some.found()).containsExactly(new ProcessHolder("ml", "squatter-0", "main", "GPU-a"));
        assertThat(some.missing()).as("it has a second GPU open").isEqualTo(none.missing());
        node.process((int) ProcessHandle.current().pid(), 400, "java", "0::/kubepods/burstable/pod" + UID + "/d");
        assertThat(pods.found(new OpenFiles.Search(Map.of(), Set.of(70), Optional.empty()), Map.of()))
                .as("the daemon's own pod")
                .isEqualTo(new ProcessSearch(List.of(), Optional.empty()));
    }

    @Test
    void podOfAProcessHoldsItsGpu() throws IOException {
        Path devices = Files.createDirectories(folder.resolve("dev"));
        Files.createFile(devices.resolve("nvidia0"));
        Path open = Files.createFile(devices.resolve("nvidia1"));
        Process holder =
                new ProcessBuilder("sleep", "600").redirectInput(open.toFile()).start();
        try {
            NodeTree node = new NodeTree(folder);
            GpuProcessPods pods = new GpuProcessPods(
                    () -> NodeFixture.node(2), new ProcessOwners(node.paths(), node.clock()), devices);
            assertThat(pods.get().found()).as("no pod is known").isEmpty();
            assertThat(pods.get().missing().orElseThrow())
                    .contains("no pod of a known name, and has a GPU open: process " + holder.pid());
            node.process((int) holder.pid(), 500, "sleep", "0::/kubepods/burstable/pod" + UID + "/" + "c".repeat(64))
                    .pod("ml", "squatter-0", UID, "main");
            assertThat(pods.get().found())
                    .containsExactly(
                            new ProcessHolder("ml", "squatter-0", "main", "GPU-00000000-0000-0000-0000-000000000001"));
            Files.delete(devices.resolve("nvidia0"));
            assertThat(pods.get().found())
                    .as("a GPU without a file hides no other")
                    .hasSize(1);
            node.process((int) ProcessHandle.current().pid(), 400, "java", "0::/kubepods/burstable/pod" + UID + "/d");
            assertThat(pods.get().found()).as("the daemon's own pod").isEmpty();
        } finally {
            holder.destroy();
        }
    }
}
