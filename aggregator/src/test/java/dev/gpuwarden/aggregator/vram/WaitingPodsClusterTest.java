package dev.gpuwarden.aggregator.vram;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.Component;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pods that a real scheduler leaves without a node, and their Events, with the shipped rights. */
@Tag("api")
class WaitingPodsClusterTest {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
    private static final String RESOURCE = "gpuwarden.dev/vram-mib";

    @TempDir
    Path folder;

    private final Closer parts = new Closer();
    private ControlPlane plane;

    @BeforeEach
    void prepare() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing(Component.SCHEDULER);
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = parts.add(ControlPlane.start(folder.resolve("plane"), Component.SCHEDULER));
        plane.client().apply(Files.readString(MANIFESTS.resolve("gpuwarden-aggregator.yaml")));
        plane.client().apply(Files.readString(MANIFESTS.resolve("components/vram-advertise/rights.yaml")));
        plane.client().apply("""
            {apiVersion: v1, kind: Namespace, metadata: {name: ocr}}
            ---
            {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: ocr}}
            ---
            {apiVersion: v1, kind: Node, metadata: {name: gpu-1}}
            """);
        String amount = "{\"cpu\": \"4\", \"pods\": \"9\", \"" + RESOURCE + "\": \"13374\"}";
        plane.client()
                .patch(
                        "node/gpu-1/status",
                        "{\"status\": {\"capacity\": " + amount + ", \"allocatable\": " + amount + "}}");
    }

    @AfterEach
    void close() {
        parts.close();
    }

    private void pod(String name, String limits) {
        plane.client().apply("""
            apiVersion: v1
            kind: Pod
            metadata: {name: %s, namespace: ocr}
            spec:
              tolerations: [{operator: Exists}]
              containers: [{name: a, image: none, resources: {limits: {%s}}}]
            """.formatted(name, limits));
    }

    /** Starts the part of a replica. */
    private VramBudgets replica() throws Exception {
        KubeClient api = parts.add(KubeClient.connect(Config.fromKubeconfig(
                Files.readString(plane.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator"))))));
        NodeCache cache = new NodeCache(Clock.systemUTC());
        VramSettings settings =
                new VramSettings(RESOURCE, true, ActionMode.DRY_RUN, false, true, List.of(), "gpuwarden");
        VramBudgets budgets = parts.add(VramBudgets.start(
                api,
                cache,
                settings,
                Clock.systemUTC(),
                new VramBudgets.Times(Duration.ofSeconds(1), Duration.ofHours(1), Duration.ZERO)));
        parts.add(api.informer(NodeCache.NODES, cache.nodes()));
        return budgets;
    }

    private List<Map<String, Object>> events() {
        return JsonTrees.objects(plane.client().get("events/ocr"), "items").stream()
                .filter(event -> JsonTrees.text(event, "reason").equals(WaitingPods.REASON))
                .toList();
    }

    @Test
    void aPodThatWaitsHasOneEventWithTheHoldersOfTheMemory() throws Exception {
        pod("holder", "\"" + RESOURCE + "\": 8000");
        plane.client().await("pod/ocr/holder", ".spec.nodeName", "gpu-1");
        pod("large", "\"" + RESOURCE + "\": 9000");
        pod("without", "cpu: 64");
        VramBudgets one = replica();
        until(() -> !events().isEmpty(), "the pod has an Event");
        Map<String, Object> event = events().get(0);
        assertThat(JsonTrees.text(event, "message"))
                .startsWith("waits for 9000 MiB of " + RESOURCE + " for ")
                .contains(" s. gpu-1 has 13374 MiB, 5374 free; held by ocr/holder 8000. ");
        assertThat(JsonTrees.object(event, "involvedObject"))
                .containsEntry("name", "large")
                .containsEntry("uid", plane.client().find("pod/ocr/large", ".metadata.uid"));
        assertThat(one.waiting()).as("not the pod that lacks processors").contains(1);

        VramBudgets other = replica();
        until(() -> other.metrics().waiting.sums().containsKey("written_before"), "another replica finds it");
        assertThat(events()).hasSize(1);

        plane.client().deleteNow("pod/ocr/holder");
        plane.client().await("pod/ocr/large", ".spec.nodeName", "gpu-1");
        until(() -> one.waiting().equals(Optional.of(0)), "no pod waits");
    }
}
