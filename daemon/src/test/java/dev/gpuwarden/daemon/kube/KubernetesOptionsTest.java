package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubernetesOptionsTest {

    private static final Map<String, String> POD =
            Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "443");

    @TempDir
    Path account;

    private static KubernetesOptions writing(Part... parts) {
        KubernetesOptions options = new KubernetesOptions();
        options.write = List.of(parts);
        return options;
    }

    private Optional<KubernetesNode> connect(KubernetesOptions options, String node, boolean aggregator) {
        return options.connect(node, aggregator, false, POD, account);
    }

    @Test
    void isOffUnlessAskedFor() {
        assertThat(connect(writing(), "n", true)).isEmpty();
        assertThat(connect(writing(Part.none), "n", true)).isEmpty();
        assertThatThrownBy(() -> connect(writing(Part.none, Part.labels), "n", false))
                .isInstanceOf(UserError.class);
        KubernetesOptions dry = writing();
        dry.dryRun = true;
        assertThatThrownBy(() -> connect(dry, "n", false))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("without --kubernetes.write");
    }

    @Test
    void isRefusedWhereThereIsAnAggregator() {
        assertThatThrownBy(() -> connect(writing(Part.conditions), "n", true))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--uplink.address")
                .hasMessageContaining("its alone");
    }

    @Test
    void budgetsNeedAnAccountWhereThereIsNoAggregator() throws IOException {
        assertThat(writing().connect("n", true, true, POD, account)).isEmpty();
        assertThatThrownBy(() -> writing().connect("n", false, true, POD, account))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith("--vram.pods=on and --vram.advertise=on need an aggregator (--uplink.address)")
                .hasMessageEndingWith("give --kubernetes.kubeconfig");
        Files.writeString(account.resolve("token"), "t");
        for (KubernetesOptions options : List.of(writing(), writing(Part.none))) {
            try (KubernetesNode node =
                    options.connect("n", false, true, POD, account).orElseThrow()) {
                assertThat(node)
                        .hasToString("VRAM budgets of Node n at https://[fd00::1]:443 (the ServiceAccount of"
                                + " this pod)");
            }
        }
    }

    @Test
    void aPodsAccountIsFoundWithAddressesOfBothKinds() throws IOException {
        assertThatThrownBy(() -> connect(writing(Part.labels), "n", false))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("give --kubernetes.kubeconfig");
        Files.writeString(account.resolve("token"), "t");
        assertThat(KubeAccess.ofPod(POD, account).orElseThrow().server()).hasToString("https://[fd00::1]:443");
    }

    @Test
    void certificatesThatAreNotThereYetAreAskedForAgain() throws IOException {
        Files.writeString(account.resolve("token"), "t");
        try (KubernetesNode node = connect(writing(Part.labels), "n", false).orElseThrow()) {
            assertThat(node.trouble()).isEmpty();
        }
        KubeAccess access = KubeAccess.ofPod(POD, account).orElseThrow();
        assertThatThrownBy(access::tryFiles)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(account.resolve("ca.crt") + " cannot be read");
        Files.writeString(account.resolve("ca.crt"), "no certificate");
        assertThatThrownBy(access::tryFiles)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(account.resolve("ca.crt").toString());
    }

    @Test
    void aNodesNameIsOneOfKubernetes() throws IOException {
        Path file = account.resolve("kubeconfig");
        Files.writeString(file, """
                current-context: x
                contexts: [{name: x, context: {cluster: x, user: x}}]
                clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}]
                users: [{name: x, user: {token: t}}]
                """);
        KubernetesOptions options = writing(Part.labels, Part.events, Part.labels);
        options.kubeconfig = file;
        try (KubernetesNode node = connect(options, "Host-7.Example", false).orElseThrow()) {
            assertThat(node).hasToString("events, labels of Node host-7.example at http://127.0.0.1:1 (" + file + ")");
        }
        options.node = "../../pods";
        assertThatThrownBy(() -> connect(options, "n", false))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("kubectl get nodes");
    }
}
