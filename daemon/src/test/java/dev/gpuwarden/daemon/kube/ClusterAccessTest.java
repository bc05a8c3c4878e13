package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Told;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rights, tokens and certificates of a node's writers, and the errors that name what is missing. */
class ClusterAccessTest extends ClusterFixture {

    @Test
    void errorsNameTheMissingRightsAndTheirManifest() {
        plane.client().apply("""
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: nobody, namespace: default}
                """);
        kubeconfig = plane.kubeconfig(plane.token("default", "nobody"));
        start();
        accept(Told.xid79("0000:3b:00"));
        until(() -> stats(ApiRequest.Kind.read).refused() > 0
                && stats(ApiRequest.Kind.events).refused() > 0);
        assertThat(stats(ApiRequest.Kind.read).lastError())
                .contains("403", "system:serviceaccount:default:nobody", "cannot get resource \"nodes\"")
                .contains("gpuwarden-node.yaml");
        assertThat(stats(ApiRequest.Kind.events).lastError())
                .contains("cannot create resource \"events\"", "gpuwarden-node.yaml");
    }

    @Test
    void anotherNodesObjectIsRefusedByThePolicy() {
        TestCluster.node(plane, node + "-other");
        KubernetesOptions options = options();
        options.node = node + "-other";
        start(options, NodeReconciler.READ_INTERVAL);
        accept(Told.xid79("0000:3b:00"));
        until(() -> stats(ApiRequest.Kind.conditions).refused() > 0
                && stats(ApiRequest.Kind.events).refused() > 0);
        assertThat(stats(ApiRequest.Kind.conditions).lastError())
                .contains("this token is of a pod on " + node + ", not on " + node + "-other")
                .endsWith("this daemon may write on its own Node alone (--kubernetes.node)");
        assertThat(stats(ApiRequest.Kind.events).lastError()).contains("this token is of a pod on " + node);
        assertThat(TestCluster.condition(plane, node + "-other", XID)).isEmpty();
    }

    @Test
    void onItsOwnNodeThePolicyAllowsConditionsAndLabelsOfHealthAlone() {
        for (String forbidden : List.of(
                "{\"metadata\":{\"labels\":{\"zone\":\"b\"}}}",
                "{\"metadata\":{\"labels\":{\"zone\":null}}}",
                "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}",
                "{\"metadata\":{\"finalizers\":[\"example.com/stays\"]}}",
                "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\"}]}}",
                "{\"spec\":{\"unschedulable\":true}}",
                "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoExecute\"}]}}")) {
            assertThat(ask(patch("", "merge", forbidden))).as(forbidden).contains("ValidatingAdmissionPolicy");
        }
        for (String forbidden : List.of(
                "{\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"9\"}}}",
                "{\"status\":{\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":1}}}}",
                "{\"status\":{\"nodeInfo\":{\"kubeletVersion\":\"v9\"}}}",
                "{\"status\":{\"images\":[{\"names\":[\"x\"]}]}}",
                "{\"status\":{\"volumesAttached\":[{\"name\":\"v\",\"devicePath\":\"p\"}]}}",
                "{\"status\":{\"phase\":\"Terminated\"}}",
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}",
                "{\"metadata\":{\"labels\":{\"zone\":\"b\"}}}")) {
            assertThat(ask(patch("/status", "strategic-merge", forbidden)))
                    .as(forbidden)
                    .contains("ValidatingAdmissionPolicy");
        }
        String own = "{\"status\":{\"conditions\":[{\"type\":\"Mine\",\"status\":\"False\"}]}}";
        assertThat(ask(patch("/status", "strategic-merge", own))).isEmpty();
        String label = "{\"metadata\":{\"labels\":{\"autopilot.ibm.com/gpuhealth\":\"PASS\"}}}";
        assertThat(ask(patch("", "merge", label))).isEmpty();
    }

    private ApiRequest patch(String below, String kind, String body) {
        return new ApiRequest(
                ApiRequest.Kind.conditions,
                "PATCH",
                "/api/v1/nodes/" + node + below + "?fieldManager=x",
                "application/" + kind + "-patch+json",
                body);
    }

    /** The error; empty if there is none. */
    private String ask(ApiRequest request) {
        try (KubeClient client =
                new KubeClient(Kubeconfig.read(kubeconfig), false, Clock.systemUTC(), new KubeCounters())) {
            return client.ask(request).isPresent() ? "" : "conflict";
        } catch (KubeException e) {
            return String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aTokenThatComesLaterIsFound() throws IOException {
        String token = TestCluster.token(plane, node);
        Path file = folder.resolve("token");
        Files.writeString(kubeconfig, Files.readString(kubeconfig).replaceAll("token: .*", "tokenFile: " + file));
        start();
        until(() -> stats(ApiRequest.Kind.read).lastError().contains(file + " cannot be read"));
        Files.writeString(file, token);
        until(() -> TestCluster.label(plane, node).equals("PASS"));
    }

    @Test
    void aNodeThatIsNotThereIsNamed() {
        KubernetesOptions options = options();
        options.node = "no-such-node";
        start(options, NodeReconciler.READ_INTERVAL);
        until(() -> stats(ApiRequest.Kind.read).refused() > 0);
        assertThat(stats(ApiRequest.Kind.read).lastError())
                .contains("nodes \"no-such-node\" not found")
                .endsWith("--kubernetes.node or NODE_NAME must be one of `kubectl get nodes`");
    }

    @Test
    void anotherAuthoritysServerIsNotTrusted() throws Exception {
        Path other = folder.resolve("other.crt");
        Process openssl = new ProcessBuilder(
                        "openssl",
                        "req",
                        "-x509",
                        "-nodes",
                        "-newkey",
                        "rsa:2048",
                        "-subj",
                        "/CN=other",
                        "-keyout",
                        folder.resolve("other.key").toString(),
                        "-out",
                        other.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("openssl.log").toFile())
                .start();
        assertThat(openssl.waitFor()).isZero();
        String text = Files.readString(kubeconfig)
                .replaceAll("certificate-authority-data: .*", "certificate-authority: " + other);
        Files.writeString(kubeconfig, text);
        start();
        until(() -> stats(ApiRequest.Kind.read).failed() > 0);
        assertThat(stats(ApiRequest.Kind.read).lastError())
                .contains("TLS: ", "unable to find valid certification path");
    }

    @Test
    void anAdministratorsCertificateDoesToo() {
        kubeconfig = plane.adminKubeconfig();
        start();
        until(() -> TestCluster.label(plane, node).equals("PASS"));
        // The API server has the label before the daemon counts its answer.
        until(() -> kubernetes.stats().containsKey(ApiRequest.Kind.labels.name()));
        assertThat(kubernetes.stats()).containsOnlyKeys("labels", "read");
        assertThat(Map.of("up", stats(ApiRequest.Kind.labels).lastError())).containsEntry("up", "");
    }
}
