package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("api")
class ApiClientTest {

    private ControlPlane plane;
    private ApiClient client;

    @BeforeEach
    void start() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        client = plane.client();
    }

    @Test
    void readsLikeKubectl() {
        client.apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: client-reads, labels: {example.com/a: b}}}
                ---
                {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: client-reads}, data: {a: <b>, c: 'd e'}}
                ---
                {apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: client-reads}, data: {a: ü}}
                ---
                """);
        for (String path : new String[] {
            ".metadata.name",
            ".metadata.labels.example\\.com/a",
            ".status.phase",
            ".spec.finalizers[*]",
            ".spec.nothing"
        }) {
            assertThat(client.get("namespace/client-reads", path))
                    .as(path)
                    .isEqualTo(plane.kubectl("get", "ns", "client-reads", "--output=jsonpath={" + path + "}"));
        }
        for (String path : new String[] {
            ".items[*].data", ".items[?(@.metadata.name==\"two\")].data.a", ".items[0].data.c", ".items[*].data.a"
        }) {
            assertThat(client.get("cm/client-reads", path))
                    .as(path)
                    .isEqualTo(
                            plane.kubectl("get", "cm", "--namespace=client-reads", "--output=jsonpath={" + path + "}")
                                    .replace("\\u003c", "<")
                                    .replace("\\u003e", ">"));
        }
        assertThat(client.get("configmaps?fieldSelector=metadata.name%3Dtwo", ".items[*].metadata.namespace"))
                .isEqualTo("client-reads");
        assertThat(client.find("configmap/client-reads/none")).isEmpty();
        assertThat(client.find("configmap/client-reads/none", ".data")).isEmpty();
        assertThatThrownBy(() -> client.get("configmap/client-reads/none"))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("GET /api/v1/namespaces/client-reads/configmaps/none: answered 404")
                .hasMessageContaining("\\\"none\\\" not found");
    }

    @Test
    void writesAndDeletes() {
        String one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: client-one}, data: {a: b, c: d}}";
        assertThat(JsonPath.text(client.create(one), ".metadata.namespace")).isEqualTo("default");
        assertThatThrownBy(() -> client.create(one)).hasMessageContaining("answered 409");
        client.patch("configmap/default/client-one", "{\"data\": {\"a\": null, \"e\": \"f\"}}");
        assertThat(client.get("configmap/default/client-one", ".data")).isEqualTo("{\"c\":\"d\",\"e\":\"f\"}");
        client.apply(one);
        client.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: client-one}, data: {a: x}}");
        assertThat(client.get("configmap/default/client-one", ".data.a")).isEqualTo("x");
        assertThatThrownBy(() ->
                        client.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: client-one}, dataa: {a: x}}"))
                .hasMessageContaining("dataa");
        assertThat(client.delete("configmap/default/client-one")).isTrue();
        assertThat(client.delete("configmap/default/client-one")).isFalse();
    }

    @Test
    void podsEndAfterTheirGracePeriod() {
        client.apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: client-pods}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: client-pods}}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: one, namespace: client-pods}
                spec: {nodeName: n1, containers: [{name: a, image: none}]}
                """);
        client.post("pod/client-pods/one/eviction?dryRun=All", "{\"metadata\": {\"name\": \"one\"}}");
        client.patch("pod/client-pods/one/status", "{\"status\": {\"phase\": \"Running\"}}");
        client.await("pod/client-pods/one", ".status.phase", "Running");
        assertThat(client.delete("pods/client-pods")).isTrue();
        assertThat(client.get("pod/client-pods/one", ".metadata.deletionGracePeriodSeconds"))
                .isEqualTo("30");
        client.deleteNow("pods/client-pods");
        assertThat(client.find("pod/client-pods/one")).isEmpty();
    }

    @Test
    void newKindIsAwaitedAndUnknownKindIsNamed() {
        client.apply("""
                apiVersion: apiextensions.k8s.io/v1
                kind: CustomResourceDefinition
                metadata: {name: gadgets.example.com}
                spec:
                  group: example.com
                  names: {kind: Gadget, plural: gadgets, singular: gadget, shortNames: [gdg]}
                  scope: Cluster
                  versions:
                  - name: v1
                    served: true
                    storage: true
                    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
                ---
                {apiVersion: example.com/v1, kind: Gadget, metadata: {name: one}, spec: {size: 3}}
                """);
        assertThat(client.get("gdg/one", ".spec.size")).isEqualTo("3");
        assertThat(client.get("gadgets.example.com", ".items[*].metadata.name")).isEqualTo("one");
        client.delete("crd/gadgets.example.com");
        ApiClient hasty = new ApiClient(plane, null, Duration.ofMillis(100));
        assertThatThrownBy(() -> hasty.get("gizmo/one"))
                .hasMessageContaining("expected a resource called gizmo within 100 ms");
    }

    @Test
    void tokenHasOnlyItsRights() {
        client.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: client-nobody, namespace: default}}");
        ApiClient nobody = plane.client(plane.token("default", "client-nobody"));
        assertThatThrownBy(() -> nobody.get("nodes"))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("answered 403")
                .hasMessageContaining("system:serviceaccount:default:client-nobody");
    }
}
