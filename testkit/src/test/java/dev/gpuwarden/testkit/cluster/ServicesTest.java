package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("nodes")
@Timeout(600)
class ServicesTest {

    private static final String WEB = """
            apiVersion: v1
            kind: Service
            metadata: {name: web}
            spec:
              selector: {app: web}
              ports: [{port: 80}]
            ---
            apiVersion: v1
            kind: Namespace
            metadata: {name: watched}
            ---
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingWebhookConfiguration
            metadata: {name: web}
            webhooks:
            - name: web.gpuwarden.dev
              clientConfig: {service: {namespace: default, name: web, port: 80}}
              rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]
              namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: watched}}
              sideEffects: None
              admissionReviewVersions: [v1]
              timeoutSeconds: 5
            """;

    private static final String CLIENT = """
            apiVersion: v1
            kind: Pod
            metadata: {name: client}
            spec:
              nodeName: node-1
              terminationGracePeriodSeconds: 0
              containers:
              - name: main
                image: localhost/busybox:1
                imagePullPolicy: Never
                command: [sleep, infinity]
                volumeMounts: [{name: kubectl, mountPath: /bin/kubectl}]
              volumes: [{name: kubectl, hostPath: {path: /run/kubernetes/kubectl}}]
            """;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    /** Both tests use the same objects. */
    @AfterAll
    static void removeAll() {
        if (Cluster.missing().isEmpty()) {
            ControlPlane plane = Cluster.shared().controlPlane();
            plane.kubectl("delete", "pod,service", "web", "client", "--ignore-not-found", "--wait=false");
            plane.kubectl(
                    "delete",
                    "validatingwebhookconfiguration,namespace",
                    "web",
                    "watched",
                    "--ignore-not-found",
                    "--wait=false");
        }
    }

    @Test
    void podsReachTheApiServerAndPodsOfOtherNodesByClusterIp() {
        ControlPlane plane = withClientAndWeb();
        // Like any program in a pod: address and port from its environment, token and authority from its service
        // account.
        assertThat(plane.kubectl(
                        "exec", "client", "--", "sh", "-c", "echo $KUBERNETES_SERVICE_HOST; kubectl get --raw /readyz"))
                .isEqualTo("10.0.0.1\nok");
        String web = plane.kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}");
        Await.until(() -> !ask(plane, "http://" + web + "/hostname").isEmpty(), () -> "no answer of service " + web);
        assertThat(ask(plane, "http://" + web + "/hostname")).isEqualTo("web\n");
    }

    @Test
    void apiServerReachesWebhooksBehindServices() {
        ControlPlane plane = withClientAndWeb();
        Await.until(
                () -> refusal(plane).contains("server gave HTTP response to HTTPS client"),
                () -> "expected that the API server speaks with the pod, seen: " + refusal(plane));
    }

    private static ControlPlane withClientAndWeb() {
        ControlPlane plane = Cluster.shared().controlPlane();
        plane.apply(WEB);
        plane.apply(TestPod.running("web", "node-2", "", "exec httpd -f -p 80 -h /etc"));
        plane.apply(CLIENT);
        plane.kubectl("wait", "--for=condition=Ready", "pod/web", "pod/client", "--timeout=2m");
        return plane;
    }

    /** Returns the answer; empty while there is none. */
    private static String ask(ControlPlane plane, String url) {
        return plane.kubectl("exec", "client", "--", "sh", "-c", "wget -q -O - " + url + " || true");
    }

    private static String refusal(ControlPlane plane) {
        try {
            return plane.kubectl("create", "secret", "generic", "any", "--namespace", "watched", "--dry-run=server");
        } catch (IllegalStateException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
