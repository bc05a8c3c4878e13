package dev.gpuwarden.daemon.vram.account;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.kube.KubernetesOptions;
import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.kube.PodTerms;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.watchdog.decision.Decision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A node's account on a real API server with the shipped rights and policies, and pods on Nodes that are objects alone. */
@Tag("api")
abstract class AccountFixture {

    static final String RESOURCE = VramCodec.RESOURCE;
    static final String SPACE = "vram-account";

    static final Decision DECISION = VramFixture.incident(
                    GpuIdentity.unknown(0, (Reading.Absent<?>) Reading.absent(Absence.NO_DATA)), Instant.now())
            .decision();

    private static final AtomicInteger NODES = new AtomicInteger();

    @TempDir
    Path folder;

    final String node =
            "budget-" + getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT) + "-" + NODES.incrementAndGet();
    final String other = node + "-other";
    final Closer parts = new Closer();
    ControlPlane plane;

    @BeforeEach
    void join() {
        plane = TestCluster.withBudgets(folder);
        TestCluster.node(plane, node);
        TestCluster.node(plane, other);
        plane.client().apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: %1$s}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %1$s}}
                """.formatted(SPACE));
    }

    @AfterEach
    void leave() {
        parts.close();
        plane.client().deleteNow("pods/" + SPACE);
    }

    /** Connects as the daemon of the node does, with these options. */
    KubernetesNode connect(String kubeconfig, String... more) throws IOException {
        Path file = Files.writeString(folder.resolve("kubeconfig"), kubeconfig);
        KubernetesOptions options =
                CommandLine.populateCommand(new KubernetesOptions(), concat("--kubernetes.kubeconfig=" + file, more));
        return parts.add(options.connect(node, false, true).orElseThrow());
    }

    private static String[] concat(String first, String... more) {
        String[] all = new String[more.length + 1];
        all[0] = first;
        System.arraycopy(more, 0, all, 1, more.length);
        return all;
    }

    String kubeconfig() throws IOException {
        return Files.readString(plane.kubeconfig(TestCluster.token(plane, node)));
    }

    NodeAccount start(String kubeconfig, Duration silence, String... more) throws IOException {
        return parts.add(NodeAccount.start(connect(kubeconfig, more).api(), RESOURCE, true, silence));
    }

    NodeAccount start(String... more) throws IOException {
        return start(kubeconfig(), Duration.ofSeconds(90), more);
    }

    // ---- the cluster ----

    /** Creates a running pod with a budget. */
    void run(String name, String on, String mib) {
        plane.client().apply("""
                {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s, labels: {app: %s}}, spec: {nodeName: %s,
                containers: [{name: main, image: none, resources: {limits: {%s: "%s"}}}]}}
                """.formatted(name, SPACE, name, on, RESOURCE, mib));
        plane.client()
                .patch(
                        "pod/" + SPACE + "/" + name + "/status",
                        "{\"status\": {\"phase\": \"Running\", \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}");
    }

    String uid(String pod) {
        return plane.client().find("pod/" + SPACE + "/" + pod, ".metadata.uid");
    }

    boolean leaves(String pod) {
        return !plane.client()
                .find("pod/" + SPACE + "/" + pod, ".metadata.deletionTimestamp")
                .isEmpty();
    }

    /** Returns the value in status.capacity; empty if there is none. */
    String capacity(String name) {
        return plane.client().find("node/" + name, ".status.capacity.gpuwarden\\.dev/vram-mib");
    }

    // ---- pods of the account ----

    static Set<String> names(NodeAccount account) {
        return account.pods()
                .map(list -> list.byUid().values().stream()
                        .map(pod -> pod.getName() + "=" + pod.getContainers(0).getQuantity())
                        .collect(Collectors.toSet()))
                .asOptional()
                .orElse(Set.of("unknown"));
    }

    static Actuator actuator(NodeAccount account) {
        PodTerms terms = new PodTerms(account::pods, () -> Reading.absent(Absence.NO_DATA), () -> 1);
        return account.eviction(terms, Duration.ofSeconds(5));
    }

    static Actuator.Outcome recycle(NodeAccount account, String uid) {
        return actuator(account).recycle(DECISION, VramFixture.tenant(uid, 1800, 5000), Optional::empty);
    }

    void assertStays(String pod, Actuator.Outcome outcome, String why) {
        assertThat(outcome.text()).contains(why);
        assertThat(outcome.end()).isNotEqualTo(Actuator.End.ACCEPTED);
        assertThat(leaves(pod)).isFalse();
    }
}
