package dev.gpuwarden.daemon.vram.account;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.daemon.kube.NodeApi;
import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The end of a pod by the daemon's own account. */
@ExtendWith(UsedRights.class)
class PodDeletionClusterTest extends AccountFixture {

    @Test
    void aPodIsDeletedWithItsUidAndItsGraceAfterADryEviction() throws Exception {
        run("leaky", node, "1800");
        String uid = uid("leaky");
        try (FaultyApi between = new FaultyApi(plane)) {
            NodeAccount account = start(
                    between.kubeconfig(TestCluster.token(plane, node)),
                    Duration.ofSeconds(90),
                    "--kubernetes.write=events");
            until(() -> names(account).equals(Set.of("leaky=1800")), "the list");
            Actuator.Outcome outcome = recycle(account, uid);
            assertThat(outcome.text()).isEqualTo("the pod " + SPACE + "/leaky is deleted");
            assertThat(outcome.end()).isEqualTo(Actuator.End.ACCEPTED);
            assertThat(plane.client().find("pod/" + SPACE + "/leaky", ".metadata.deletionGracePeriodSeconds"))
                    .isEqualTo("5");
            assertThat(between.calls())
                    .filteredOn(ApiCall.of("POST", "/eviction"))
                    .extracting(ApiCall::query)
                    .containsExactly("dryRun=All");
            until(() -> TestCluster.events(plane, node).contains("Warning VramRecycled 1"), "the Node has an Event");
            until(
                    () -> account.pods()
                            .asOptional()
                            .orElseThrow()
                            .byUid()
                            .get(uid)
                            .getLeaving(),
                    "it leaves");
            assertThat(recycle(account, uid).text()).contains("ends already");
            assertThat(between.count(ApiCall.of("DELETE", "/pods/"))).isEqualTo(1);
        }
    }

    @Test
    void aDisruptionBudgetRefusesAndThePodStays() throws Exception {
        run("guarded", node, "1800");
        plane.client().apply("""
                apiVersion: policy/v1
                kind: PodDisruptionBudget
                metadata: {name: guard, namespace: %s}
                spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}
                """.formatted(SPACE));
        NodeAccount account = start();
        until(() -> names(account).equals(Set.of("guarded=1800")), "the list");
        assertStays("guarded", recycle(account, uid("guarded")), "disruption budget guard");
        plane.client().deleteNow("poddisruptionbudget/" + SPACE + "/guard");
    }

    @Test
    void anotherPodOfTheSameNameStays() throws Exception {
        run("again", node, "1800");
        NodeApi api = connect(kubeconfig()).api();
        var there = api.pod(SPACE, "again").orElseThrow();
        PodFacts before = PodFacts.of(there);
        plane.client().deleteNow("pod/" + SPACE + "/again");
        run("again", node, "1800");
        assertThat(api.end(before, Duration.ofSeconds(5)).ended()).isEqualTo(NodeApi.Ended.GONE);
        assertThat(leaves("again")).isFalse();
        assertThat(api.pod(SPACE, "no-such-pod")).isEmpty();
    }

    @Test
    void aPodThatMustStayIsNotDeleted() throws Exception {
        run("calm", node, "1800");
        NodeAccount account = start();
        until(() -> names(account).equals(Set.of("calm=1800")), "the list");
        plane.client().patch("pod/" + SPACE + "/calm", """
                {"metadata": {"labels": {"gpuwarden.dev/vram-recycle": "off"}}}""");
        Actuator.Outcome refused = recycle(account, uid("calm"));
        assertStays("calm", refused, "vram-recycle=off");
        assertThat(refused.begun()).as("no attempt").isFalse();
    }

    @Test
    void aDryRunOfTheWatchdogWritesAnEventAlone() throws Exception {
        run("dry", node, "1800");
        try (FaultyApi between = new FaultyApi(plane)) {
            NodeAccount account = start(
                    between.kubeconfig(TestCluster.token(plane, node)),
                    Duration.ofSeconds(90),
                    "--kubernetes.write=events");
            until(() -> names(account).equals(Set.of("dry=1800")), "the list");
            actuator(account).rehearse(DECISION, VramFixture.tenant(uid("dry"), 1800, 5000));
            until(
                    () -> TestCluster.events(plane, node).contains("Warning VramWouldRecycle 1"),
                    "the Node has an Event");
            assertThat(between.calls())
                    .filteredOn(call -> !call.method().equals("GET"))
                    .extracting(ApiCall::path)
                    .containsExactly("/api/v1/namespaces/default/events");
        }
    }

    @Test
    void aKubeletsOwnCredentialsSuffice() throws Exception {
        run("leaky", node, "1800");
        NodeAccount account = start(kubeletKubeconfig(), Duration.ofSeconds(90));
        account.advertise(OptionalLong.of(14000));
        until(() -> capacity(node).equals("14k"), "the Node has the amount");
        until(() -> names(account).equals(Set.of("leaky=1800")), "the list");
        assertThat(recycle(account, uid("leaky")).text()).isEqualTo("the pod " + SPACE + "/leaky is deleted");
        assertThat(leaves("leaky")).isTrue();
    }

    private String kubeletKubeconfig() throws Exception {
        Path ca = plane.caCertificate();
        Path key = folder.resolve("kubelet.key");
        Path certificate = folder.resolve("kubelet.crt");
        String subject = "/O=system:nodes/CN=system:node:" + node;
        Process openssl = new ProcessBuilder(
                        ("openssl req -x509 -nodes -newkey rsa:2048 -subj " + subject + " -CA " + ca + " -CAkey "
                                        + ca.resolveSibling("ca.key") + " -keyout " + key + " -out " + certificate)
                                .split(" "))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("openssl.log").toFile())
                .start();
        assertThat(openssl.waitFor()).isZero();
        return kubeconfig()
                .replaceFirst("token: .*", "client-certificate: " + certificate + "\n    client-key: " + key);
    }
}
