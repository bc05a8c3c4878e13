package dev.gpuwarden.daemon.vram.account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.ApiException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The limits of the account, by the shipped rights and policies: a stolen token of one node does this and no more. */
class AccountLimitsClusterTest extends AccountFixture {

    private static final String EVICTION = """
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s", "namespace": "vram-account"}%s}""";

    private ApiClient stolen;

    @BeforeEach
    void steal() {
        stolen = plane.client(TestCluster.token(plane, node));
        run("own", node, "1800");
        run("foreign", other, "1800");
    }

    /** Returns the API server's words; empty if it permits the request. */
    private static String refusal(Runnable request) {
        try {
            request.run();
            return "";
        } catch (ApiException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private String patch(String name, String status) {
        return refusal(() -> stolen.patch("node/" + name + "/status", "{\"status\": " + status + "}"));
    }

    private String evict(String pod, String query, String options) {
        return refusal(
                () -> stolen.post("pod/" + SPACE + "/" + pod + "/eviction" + query, EVICTION.formatted(pod, options)));
    }

    @Test
    void oneKeyOfItsOwnNodesCapacityIsPermitted() {
        String own = "{\"capacity\": {\"gpuwarden.dev/vram-mib\": \"5000\"}}";
        assertThat(patch(node, own)).isEmpty();
        assertThat(patch(other, own)).contains("this token is of a pod on " + node + ", not on " + other);
        assertThat(capacity(other)).isEmpty();
        for (String key : new String[] {"nvidia.com/gpu", "cpu", "gpuwarden.dev/vram-mib2"}) {
            assertThat(patch(node, "{\"capacity\": {\"" + key + "\": \"9\"}}"))
                    .as(key)
                    .contains("the daemon may write no capacity but gpuwarden.dev/vram-mib");
        }
        assertThat(patch(node, "{\"capacity\": {\"nvidia.com/gpu\": null}}")).contains("no capacity but");
        assertThat(patch(node, "{\"capacity\": null}")).contains("no capacity but");
        assertThat(patch(node, "{\"allocatable\": {\"gpuwarden.dev/vram-mib\": \"9\"}}"))
                .contains("no status but conditions and capacity");
        assertThat(patch(node, "{\"capacity\": {\"gpuwarden.dev/vram-mib\": null}}"))
                .isEmpty();
        assertThat(refusal(() -> stolen.patch("node/" + node, "{\"metadata\": {\"annotations\": {\"a\": \"b\"}}}")))
                .contains("no metadata but labels");
    }

    @Test
    void aPodOfAnotherNodeIsNotDeleted() {
        assertThat(refusal(() -> stolen.delete("pod/" + SPACE + "/foreign")))
                .contains("this token is of a pod on " + node + ", and the pod is on " + other);
        assertThat(leaves("foreign")).isFalse();
        assertThat(refusal(() -> stolen.delete("pods/" + SPACE))).contains("cannot deletecollection");
        assertThat(refusal(() -> stolen.delete("pod/" + SPACE + "/own"))).isEmpty();
        assertThat(leaves("own")).isTrue();
    }

    @Test
    void aPodWithoutANodeIsNotDeleted() {
        plane.client().apply("""
                {apiVersion: v1, kind: Pod, metadata: {name: pending, namespace: vram-account}, spec: {
                containers: [{name: main, image: none}]}}
                """);
        assertThat(refusal(() -> stolen.delete("pod/" + SPACE + "/pending"))).contains("ValidatingAdmissionPolicy");
        ApiClient nowhere = plane.client(plane.token("gpuwarden", "gpuwarden"));
        assertThat(refusal(() -> nowhere.delete("pod/" + SPACE + "/pending")))
                .contains("this token is of a pod on no node");
        assertThat(refusal(() -> nowhere.delete("pod/" + SPACE + "/own")))
                .contains("this token is of a pod on no node");
    }

    @Test
    void aRealEvictionIsRefusedOnEachNode() {
        for (String pod : new String[] {"own", "foreign"}) {
            assertThat(evict(pod, "", "")).contains("the daemon may evict pods with dryRun: All alone");
            assertThat(evict(pod, "", ", \"deleteOptions\": {\"dryRun\": [\"All\"]}"))
                    .as("only the query is visible to a policy")
                    .contains("dryRun: All alone");
            assertThat(evict(pod, "?dryRun=All", "")).isEmpty();
            assertThat(evict(pod, "?dryRun=All", ", \"deleteOptions\": {\"gracePeriodSeconds\": 0}"))
                    .isEmpty();
            assertThat(leaves(pod)).isFalse();
            assertThat(uid(pod)).isNotEmpty();
        }
    }

    @Test
    void aDeletionWithAnotherUidIsRefused() throws Exception {
        String uid = "{\"preconditions\": {\"uid\": \"another-uid\"}}";
        assertThat(evict("own", "?dryRun=All", ", \"deleteOptions\": " + uid)).contains("409");
        Path body = Files.writeString(
                folder.resolve("options.json"),
                uid.replaceFirst("[{]", "{\"apiVersion\": \"v1\", \"kind\": \"DeleteOptions\", "));
        assertThatThrownBy(() -> plane.kubectl(
                        "delete", "--raw", "/api/v1/namespaces/" + SPACE + "/pods/own", "-f", body.toString()))
                .hasMessageContaining("the UID in the precondition (another-uid) does not match");
        assertThat(leaves("own")).isFalse();
    }

    @Test
    void podsAreNeitherMadeNorChanged() {
        String pod = "pod/" + SPACE + "/own";
        assertThat(refusal(() -> stolen.patch(pod, "{\"metadata\": {\"labels\": {\"a\": \"b\"}}}")))
                .contains("cannot patch resource");
        assertThat(refusal(() -> stolen.post(pod + "/binding", "{}"))).contains("cannot create resource");
    }
}
