package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.cluster.Cluster.NodeNeeds;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("nodes")
@Timeout(900)
class ClusterTest {

    @TempDir
    Path parent;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @Test
    void podsRunOnAllNodesAndSeeSimulatedGpus() {
        Cluster cluster = Cluster.shared();
        ControlPlane plane = cluster.controlPlane();
        plane.apply("""
                apiVersion: apps/v1
                kind: DaemonSet
                metadata: {name: everywhere}
                spec:
                  selector: {matchLabels: {app: everywhere}}
                  template:
                    metadata: {labels: {app: everywhere}}
                    spec:
                      terminationGracePeriodSeconds: 0
                      containers:
                      - name: main
                        image: localhost/busybox:1
                        imagePullPolicy: Never
                        command: [sh, -c, "echo on $NODE; exec httpd -f -p 80 -h /gpus"]
                        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
                        volumeMounts: [{name: gpus, mountPath: /gpus, readOnly: true}]
                      volumes: [{name: gpus, hostPath: {path: /run/simulated-gpus}}]
                """);
        plane.kubectl("rollout", "status", "daemonset/everywhere", "--timeout=5m");
        String first = podOn(plane, "node-1", "{.items[0].metadata.name}");
        assertThat(plane.kubectl("logs", first)).isEqualTo("on node-1\n");
        cluster.nodes().get(0).gpus().logKernel("NVRM: Xid (PCI:0000:17:00): 79, of the first node");
        assertThat(plane.kubectl("exec", first, "--", "tail", "-n", "1", "/gpus/dev/kmsg"))
                .contains("79, of the first node");
        String second = podOn(plane, "node-2", "{.items[0].status.podIP}");
        cluster.nodes().get(1).gpus().logKernel("NVRM: Xid (PCI:0000:3b:00): 31, of the other node");
        assertThat(plane.kubectl("exec", first, "--", "wget", "-q", "-O", "-", "http://" + second + "/dev/kmsg"))
                .contains("31, of the other node")
                .doesNotContain("of the first node");
        plane.kubectl("delete", "daemonset", "everywhere", "--wait=false");
    }

    @Test
    void nothingRemainsWhenOwnerIsKilled() throws IOException {
        Path folder = parent.resolve("cluster");
        Process owner = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Dgpuwarden.native.dir=" + System.getProperty("gpuwarden.native.dir"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ClusterOwner.class.getName(),
                        folder.toString())
                .redirectError(parent.resolve("owner.log").toFile())
                .start();
        String said =
                new BufferedReader(new InputStreamReader(owner.getInputStream(), StandardCharsets.UTF_8)).readLine();
        assertThat(said).as(Files.readString(parent.resolve("owner.log"))).isEqualTo("ready");
        List<ProcessHandle> all = owner.descendants().toList();
        assertThat(all).map(ClusterTest::program).anyMatch(name -> name.endsWith("/kubelet"));
        String cgroup = Files.readString(folder.resolve("node-1/cgroup"));
        owner.destroyForcibly();
        Await.until(() -> !Files.exists(folder), () -> folder + " is still there");
        Await.until(
                () -> all.stream().noneMatch(ProcessHandle::isAlive),
                () -> "still running: " + all.stream().map(ClusterTest::program).toList());
        assertThat(NodeNeeds.CGROUPS.resolve("memory").resolve(cgroup)).doesNotExist();
        assertThat(NodeNeeds.CGROUPS.resolve(cgroup)).doesNotExist();
    }

    private static String program(ProcessHandle process) {
        return process.info().command().orElse("ended");
    }

    private static String podOn(ControlPlane plane, String node, String what) {
        return plane.kubectl(
                "get",
                "pods",
                "--field-selector=spec.nodeName=" + node,
                "--selector=app=everywhere",
                "-o",
                "jsonpath=" + what);
    }
}
