package dev.gpuwarden.daemon.command;

import static dev.gpuwarden.daemon.holders.TestKubelet.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.holders.TestKubelet;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as a user runs it, against a simulated driver and a kubelet of the test's own. */
class VramHoldersCommandTest {

    @TempDir
    Path folder;

    private Program run(SimulatedNode node, String... more) {
        String[] all = java.util.stream.Stream.concat(
                        java.util.stream.Stream.of(
                                "vram", "holders", "--path.pod-resources=" + folder.resolve("k.sock")),
                        java.util.stream.Stream.of(more))
                .toArray(String[]::new);
        return Program.run(node, all);
    }

    private static String uuid(SimulatedNode node, int index) {
        return node.control().gpus().get(index).uuid();
    }

    @Test
    void eachGpuHasItsPods() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                TestKubelet kubelet = new TestKubelet(folder.resolve("k.sock"))) {
            kubelet.says(
                    pod("train-0", "nvidia.com/gpu", uuid(node, 0), uuid(node, 5)),
                    pod("web", "nvidia.com/gpu", uuid(node, 1) + "::4"));
            Program holders = run(node);
            assertThat(holders.err()).isEmpty();
            assertThat(holders.exitCode()).isZero();
            assertThat(holders.out())
                    .containsPattern("0 +" + uuid(node, 0) + " +ml/train-0 +main +exclusive")
                    .containsPattern("5 +" + uuid(node, 5) + " +ml/train-0 +main +exclusive")
                    .containsPattern("1 +" + uuid(node, 1) + " +ml/web +main +shared +" + uuid(node, 1) + "::4")
                    .containsPattern("7 +" + uuid(node, 7) + " +none");
            Program json = run(node, "-o", "json");
            assertThat(json.out().replaceAll("\\s+", " "))
                    .contains("\"complete\": true")
                    .contains("\"namespace\": \"ml\", \"pod\": \"train-0\", \"container\": \"main\","
                            + " \"kind\": \"exclusive\", \"deviceId\": \"" + uuid(node, 0) + "\"");
        }
    }

    @Test
    void unknownHoldersAreShownAndSetTheExitCode() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Program none = run(node);
            assertThat(none.exitCode()).isEqualTo(3);
            assertThat(none.out()).contains("unknown: ", "k.sock does not exist");
            assertThat(run(node, "-o", "json").out()).contains("\"absent\": \"no_data\"");
            try (TestKubelet kubelet = new TestKubelet(folder.resolve("k.sock"))) {
                kubelet.says(pod("odd", "nvidia.com/gpu", "\u001b[31mred"));
                Program odd = run(node);
                assertThat(odd.exitCode()).isEqualTo(3);
                assertThat(odd.out()).contains("ml/odd", "not a name of a GPU").doesNotContain("\u001b[31mred");
            }
        }
    }
}
