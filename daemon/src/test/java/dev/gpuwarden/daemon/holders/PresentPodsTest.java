package dev.gpuwarden.daemon.holders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kubelet of before Kubernetes 1.34, which lists finished pods too. */
class PresentPodsTest {

    private static final String GPU = "GPU-00000000-0000-0000-0000-000000000000";
    private static final String UID = "5b1c2d3e-0000-4000-8000-00000000000a";

    @TempDir
    Path root;

    private Path logs;
    private Path cgroups;

    @BeforeEach
    void folders() throws IOException {
        logs = Files.createDirectories(root.resolve("logs"));
        cgroups = Files.createDirectories(root.resolve("cgroup"));
        Files.createDirectories(root.resolve("proc/1"));
    }

    private Reading<GpuHolders> pods(Path socket) {
        NodePaths paths = NodePaths.of(root.resolve("proc"), root, logs);
        return new PresentPods(
                        new GpuHolderLookup(
                                socket, () -> NodeFixture.node(1), GpuHolderLookup.DAEMON_PATIENCE, Clock.systemUTC()),
                        new EndedPods(logs, cgroups),
                        paths.withPodResources(socket),
                        Clock.systemUTC())
                .get();
    }

    private boolean isHeld() throws IOException {
        Path socket = root.resolve("kubelet.sock");
        try (TestKubelet kubelet = new TestKubelet(socket)) {
            kubelet.says(TestKubelet.pod("train-0", "nvidia.com/gpu.shared", GPU + "::1"));
            return !pods(socket).asOptional().orElseThrow().holders().isEmpty();
        }
    }

    @Test
    void podWithLogsAndWithoutCgroupHasEnded() throws IOException {
        Files.createDirectories(logs.resolve("ml_train-0_" + UID));
        Files.createDirectories(cgroups.resolve("kubepods.slice/kubepods-burstable.slice"));
        assertThat(isHeld()).isFalse();
        Files.createDirectories(cgroups.resolve(
                "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + UID.replace('-', '_') + ".slice"));
        assertThat(isHeld()).isTrue();
    }

    @Test
    void podWithoutLogsOrOnANodeWithoutVisibleCgroupsCounts() throws IOException {
        assertThat(isHeld()).isTrue();
        Files.createDirectories(logs.resolve("ml_train-0_" + UID));
        assertThat(isHeld()).isTrue();
    }

    @Test
    void nodeThatNeverHadAKubeletHasNoPods() throws IOException {
        Path socket = root.resolve("pod-resources/kubelet.sock");
        assertThat(pods(socket).asOptional().orElseThrow().holders()).isEmpty();
        Files.writeString(root.resolve("proc/1/comm"), "kubelet\n");
        assertThat(pods(socket)).isInstanceOf(Reading.Absent.class);
        Files.delete(root.resolve("proc/1/comm"));
        Files.createDirectories(root.resolve("pod-resources"));
        assertThat(pods(socket)).isInstanceOf(Reading.Absent.class);
    }
}
