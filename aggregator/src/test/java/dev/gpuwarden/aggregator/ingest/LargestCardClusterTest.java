package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.vram.VramBudgets;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.testkit.TestClock;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The parameter of the API server's warnings, and the annotation that it is made of, with the shipped rights. */
@ExtendWith(UsedRights.class)
class LargestCardClusterTest extends VramSetup {

    private static final Path COMPONENT = Path.of(
            System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/components/vram-warnings");

    /** Nodes of other tests have the usual resource. */
    private static final String OWN = "gpuwarden.dev/largest-card-test";

    private static final String MAP = "configmap/gpuwarden/gpuwarden-vram";
    private static final String SHIPPED = """
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: gpuwarden-vram, namespace: gpuwarden}
            data: {resource: %s}
            """.formatted(OWN);

    private final TestClock clock = new TestClock();

    private void replica() throws Exception {
        KubeClient api = api();
        NodeCache nodes = new NodeCache(Clock.systemUTC());
        parts.add(VramBudgets.start(
                api,
                nodes,
                new VramSettings(OWN, true, ActionMode.DRY_RUN, false, false, List.of(), "gpuwarden"),
                clock,
                new VramBudgets.Times(Duration.ofHours(1), Duration.ofHours(1), Duration.ofMillis(50))));
        parts.add(api.informer(NodeCache.NODES, nodes.nodes()));
    }

    /** @param value JSON */
    private void amount(String name, String value) {
        plane.client()
                .patch("node/" + name + "/status", "{\"status\": {\"capacity\": {\"" + OWN + "\": " + value + "}}}");
    }

    private String card() {
        return plane.client().find(MAP, ".data.largest-card-mib");
    }

    private String smallerSince() {
        return plane.client().find(MAP, ".metadata.annotations.gpuwarden\\.dev/vram-cards-smaller-since");
    }

    @Test
    void theParameterFollowsTheLargestCardUpImmediatelyAndDownAfterADay() throws Exception {
        String large = node + "-large";
        TestCluster.node(plane, large);
        plane.client().deleteNow(MAP);
        plane.client().apply(SHIPPED);
        plane.client().apply(Files.readString(COMPONENT.resolve("rights.yaml")));
        amount(node, "\"13374\"");
        replica();
        replica();
        until(() -> card().equals("13374"), "the only card");
        amount(large, "\"80k\"");
        until(() -> card().equals("80000"), "a larger card");
        plane.client().apply(SHIPPED);
        assertThat(card()).as("after the manifest was applied again").isEqualTo("80000");

        plane.client().deleteNow("node/" + large);
        until(() -> !smallerSince().isEmpty(), "the larger card is missed");
        assertThat(card()).isEqualTo("80000");
        clock.advance(Duration.ofDays(1));
        amount(node, "\"13375\"");
        until(() -> card().equals("13375"), "the larger card is not expected any more");
        assertThat(smallerSince()).isEmpty();

        plane.client().patch(MAP, "{\"data\": {\"largest-card-mib\": \"5000\"}}");
        amount(node, "\"14000\"");
        TimeUnit.MILLISECONDS.sleep(500);
        assertThat(card()).as("a value of an operator").isEqualTo("5000");
        amount(node, "null");
    }

    /** CardParameterTest shows that each write has the version that was read. */
    @Test
    void aWriteWithAnOldVersionIsAConflict() throws Exception {
        plane.client().deleteNow(MAP);
        plane.client().apply(SHIPPED);
        plane.client().apply(Files.readString(COMPONENT.resolve("rights.yaml")));
        String version = plane.client().find(MAP, ".metadata.resourceVersion");
        plane.client().patch(MAP, "{\"data\": {\"largest-card-mib\": \"5000\"}}");
        Map<String, Object> body = Map.of(
                "apiVersion",
                "v1",
                "kind",
                "ConfigMap",
                "metadata",
                Map.of("name", "gpuwarden-vram", "resourceVersion", version),
                "data",
                Map.of("largest-card-mib", "14000"));
        KubeClient api = api();
        assertThatThrownBy(() -> api.apply("/api/v1/namespaces/gpuwarden/configmaps/gpuwarden-vram", "test", body))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        e -> assertThat(e.conflict()).as(e.getMessage()).isTrue());
        assertThat(card()).isEqualTo("5000");
    }

    @Test
    void aNodeWithSeveralCardsHasTheLargestInAnAnnotation() throws Exception {
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(20000), OptionalLong.of(13374)).getAccepted())
                .isTrue();
        String annotation = ".metadata.annotations.gpuwarden\\.dev/vram-largest-card-mib";
        assertThat(plane.client().find("node/" + node, annotation)).isEqualTo("13374");
        assertThat(advertise(OptionalLong.of(13374)).getAccepted()).isTrue();
        assertThat(plane.client().find("node/" + node, annotation))
                .as("one card has all of it")
                .isEmpty();
        assertThat(advertise(OptionalLong.of(20000), OptionalLong.of(10000)).getAccepted())
                .isTrue();
        assertThat(advertise(OptionalLong.empty()).getAccepted()).isTrue();
        assertThat(plane.client().find("node/" + node, ".metadata.annotations")).isEmpty();
    }
}
