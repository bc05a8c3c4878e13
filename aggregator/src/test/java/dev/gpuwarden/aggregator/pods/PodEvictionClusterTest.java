package dev.gpuwarden.aggregator.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of requests to end a pod, with a real API server. */
@Tag("api")
class PodEvictionClusterTest {

    private final ControlPlane plane = plane();

    private static ControlPlane plane() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        return ControlPlane.shared();
    }

    private PodView run(KubeClient api, String name) throws Exception {
        plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: removal}}");
        plane.client().apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: removal}}");
        plane.client().apply("""
                {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: removal}, spec: {nodeName: none,
                terminationGracePeriodSeconds: 44, containers: [{name: main, image: none}]}}""".formatted(name));
        plane.client().patch("pod/removal/" + name + "/status", "{\"status\": {\"phase\": \"Running\"}}");
        return PodView.of(api.get("/api/v1/namespaces/removal/pods/" + name));
    }

    private String grace(String name) {
        return plane.client().find("pod/removal/" + name, ".metadata.deletionGracePeriodSeconds");
    }

    @Test
    void onlyTheGivenPodIsEvictedWithItsOwnGracePeriod() throws Exception {
        Config config = Config.fromKubeconfig(Files.readString(plane.adminKubeconfig()));
        config.setClientKeyAlgo("EC");
        try (KubeClient api = KubeClient.connect(config)) {
            PodView before = run(api, "same");
            plane.client().deleteNow("pod/removal/same");
            PodView now = run(api, "same");
            PodEviction own = new PodEviction(api, Optional.empty(), false);
            assertThat(own.evict(before)).isEqualTo(new PodEviction.Outcome.Done("gone"));
            assertThat(grace("same")).as("its name belongs to another pod").isEmpty();

            assertThat(new PodEviction(api, Optional.empty(), true).evict(now))
                    .isEqualTo(new PodEviction.Outcome.Done("evicted"));
            assertThat(grace("same")).as("dry run").isEmpty();

            assertThat(own.evict(now)).isEqualTo(new PodEviction.Outcome.Done("evicted"));
            assertThat(grace("same")).isEqualTo("44");

            assertThat(new PodEviction(api, Optional.of(Duration.ofSeconds(5)), false).evict(run(api, "other")))
                    .isEqualTo(new PodEviction.Outcome.Done("evicted"));
            assertThat(grace("other")).isEqualTo("5");
        } finally {
            plane.client().deleteNow("pods/removal");
        }
    }
}
