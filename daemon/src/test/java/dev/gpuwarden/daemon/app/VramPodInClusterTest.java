package dev.gpuwarden.daemon.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon without an aggregator: a pod over its budget starves another one on a T4 of a Node of a real API server. */
@Tag("api")
class VramPodInClusterTest {

    private static final String NAME = "vram-daemon";
    private static final String SPACE = "vram-daemon";

    @TempDir
    Path folder;

    private ControlPlane plane;

    /** Creates a running pod with a budget, and returns its UID. */
    private String run(String name, String mib) {
        plane.client().apply("""
                {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s}, spec: {nodeName: %s,
                containers: [{name: main, image: none, resources: {limits: {gpuwarden.dev/vram-mib: "%s"}}}]}}
                """.formatted(name, SPACE, NAME, mib));
        plane.client().patch("pod/" + SPACE + "/" + name + "/status", """
                {"status": {"phase": "Running", "startTime": "2026-06-02T10:00:00Z"}}""");
        return plane.client().get("pod/" + SPACE + "/" + name, ".metadata.uid");
    }

    private String find(String pod, String path) {
        return plane.client().find("pod/" + SPACE + "/" + pod, path);
    }

    @Test
    void thePodOverItsBudgetIsDeletedAndTheOtherStays() throws Exception {
        plane = TestCluster.withBudgets(folder);
        TestCluster.node(plane, NAME);
        plane.client().apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: %1$s}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %1$s}}
                """.formatted(SPACE));
        Path scenario = Files.writeString(
                folder.resolve("shared.yaml"), """
                description: two pods share a T4
                driver: 550
                gpus: [{profile: t4, count: 1}]
                processes:
                  - {pid: 61001, gpu: 0, bytes: 11000MiB, pod: {namespace: %1$s, name: hog, uid: %2$s, container: main}}
                  - {pid: 62001, gpu: 0, bytes: 3000MiB, pod: {namespace: %1$s, name: victim, uid: %3$s, container: main}}
                """.formatted(SPACE, run("hog", "3000"), run("victim", "5000")));
        Path kubeconfig = plane.kubeconfig(TestCluster.token(plane, NAME));
        try (SimulatedNode node = SimulatedNode.start(scenario.toString())) {
            RunningDaemon daemon = RunningDaemon.start(
                    node,
                    "--node.name=" + NAME,
                    "--kubernetes.kubeconfig=" + kubeconfig,
                    "--kubernetes.write=events",
                    "--vram.advertise=on",
                    "--vram.mode=armed",
                    "--vram.grace=7s");
            try {
                until(() -> !find("hog", ".metadata.deletionTimestamp").isEmpty(), "the pod is deleted");
                assertThat(find("hog", ".metadata.deletionGracePeriodSeconds")).isEqualTo("7");
                until(() -> TestCluster.events(plane, NAME).contains("Warning VramRecycled 1"), "an Event");
                assertThat(find("victim", ".metadata.deletionTimestamp")).isEmpty();
                assertThat(plane.client().get("node/" + NAME, ".status.capacity.gpuwarden\\.dev/vram-mib"))
                        .as("15360 MiB without 393 of the driver and a floor of 1536")
                        .isEqualTo("13431");
                daemon.awaitMetrics(metrics -> metrics.contains("gpuwarden_kubernetes_up{kind=\"pods\"} 1.0")
                        && metrics.contains("gpuwarden_kubernetes_up{kind=\"removals\"} 1.0"));
            } finally {
                daemon.stop();
            }
        }
        plane.client().deleteNow("pods/" + SPACE);
    }
}
