package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Repairs on an API server whose definitions keep less of a status than the shipped ones, from the fault to the return. */
@Tag("api")
class OtherDefinitionsClusterTest extends RepairFixture {

    private static final String TIMES =
            "startTime: {type: string, format: date-time}, completionTime: {type: string, format: date-time}";

    /** The conditions of a Kubernetes status, as NVSentinel's definitions have them. */
    private static final String CONDITIONS = """
            , conditions: {type: array, items: {type: object, required: [lastTransitionTime, message, reason, status, type],
            properties: {lastTransitionTime: {type: string, format: date-time}, message: {type: string, maxLength: 32768},
            observedGeneration: {type: integer, format: int64, minimum: 0}, reason: {type: string, maxLength: 1024, minLength: 1,
            pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'}, status: {type: string, enum: ["True", "False", Unknown]},
            type: {type: string, maxLength: 316}}}}""";

    private static final Map<String, String> KINDS = Map.of("GPUReset", "gpureset", "RebootNode", "rebootnode");

    private Workshop shop;
    private Map<String, String> labels;

    @BeforeEach
    void startShop() {
        shop = new Workshop(fleet);
        shop.services(bad);
        labels = shop.labels(bad);
        DrainCommandFixture.runWithGpu(pods, bad, "one", GPU);
        DrainCommandFixture.runWithGpu(pods, bad, "other", OTHER);
    }

    @AfterEach
    void restoreDefinitions() {
        if (shop != null) {
            shop.remove();
            KINDS.values().forEach(kind -> fleet.apply("crds/" + kind + "s.janitor.dgxc.nvidia.com.yaml"));
            awaitDefinitions(true);
        }
    }

    /** Replaces the definitions by ones with these fields of a status, and waits until the API server uses them. */
    private void keepOnly(String fields) {
        KINDS.forEach((kind, name) -> fleet.client.apply("""
                apiVersion: apiextensions.k8s.io/v1
                kind: CustomResourceDefinition
                metadata: {name: %2$ss.janitor.dgxc.nvidia.com}
                spec:
                  group: janitor.dgxc.nvidia.com
                  names: {kind: %1$s, listKind: %1$sList, plural: %2$ss, singular: %2$s}
                  scope: Cluster
                  versions:
                    - name: v1alpha1
                      served: true
                      storage: true
                      subresources: {status: {}}
                      schema:
                        openAPIV3Schema:
                          type: object
                          properties:
                            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
                            status: {type: object, properties: {%3$s}}
                """.formatted(kind, name, fields)));
        awaitDefinitions(false);
    }

    private void awaitDefinitions(boolean shipped) {
        KINDS.forEach((kind, name) -> {
            String probe = name + "/maintenance-probe";
            shop.create(kind, "probe", "nowhere", kind.equals("GPUReset") ? "selector: {}" : "force: false");
            until(
                    () -> {
                        fleet.client.patch(probe + "/status", "{\"status\": {\"nodeUID\": \"seen\"}}");
                        return fleet.client.get(probe, ".status.nodeUID").isEmpty() != shipped;
                    },
                    "the API server uses the definition of " + kind);
            fleet.client.delete(probe);
        });
    }

    private Controllers start(KubeClient api) {
        Controllers controllers = TestPods.maintaining(api, settings(true, false), audits);
        until(controllers::works, "it leads");
        fail48(GPU);
        until(() -> pods.asked("one"), () -> "its pod is evicted, " + seen());
        pods.end("one");
        return controllers;
    }

    private void noOtherPodLeft() {
        assertThat(pods.untouched()).containsExactly("other");
        assertThat(resources("rebootnodes")).isEmpty();
        assertThat(resources("gpuresets")).hasSize(1);
        assertThat(shop.labels(bad)).isEqualTo(labels);
    }

    @Test
    void faultLeadsToOneResetWithTheDefinitionsOfNvsentinel() {
        keepOnly(TIMES + CONDITIONS);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = start(api)) {
            until(
                    () -> {
                        shop.play(bad);
                        return shop.actions.containsKey(bad);
                    },
                    () -> "it is reset, " + seen());
            recover("48", GPU);
            until(
                    () -> {
                        shop.play(bad);
                        return !fleet.cordoned(bad);
                    },
                    () -> "it returns, " + seen());
            assertThat(shop.actions.get(bad)).hasSize(1);
            String reset = "gpureset/" + name(resources("gpuresets").get(0));
            assertThat(JsonTrees.object(fleet.client.get(reset), "status").keySet())
                    .containsExactlyInAnyOrder("startTime", "completionTime", "conditions");
            assertThat(fleet.client.get(reset, ".status.conditions[?(@.type==\"Complete\")].status"))
                    .isEqualTo("True");
            noOtherPodLeft();
            assertThat(controllers.failing()).isZero();
        }
    }

    @Test
    void faultLeadsToARefusalThatNamesTheDefinitionIfItKeepsNoConditions() {
        keepOnly(TIMES);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = start(api)) {
            until(() -> state().equals("remediation-failed"), () -> "it waits for an operator, " + seen());
            assertThat(annotation("gpuwarden.dev/repair"))
                    .contains("its definition gpuresets.janitor.dgxc.nvidia.com does not keep status.conditions");
            until(() -> fleet.eventReasons(bad).contains("RepairRefused"), "its Event is written");
            assertThat(shop.actions).isEmpty();
            noOtherPodLeft();
            assertThat(controllers.failing()).isZero();
        }
    }

    @Test
    void resourcesWhoseDefinitionsKeepNothingCostFewWrites() throws Exception {
        keepOnly("");
        shop.create("GPUReset", "first", bad, "selector: {uuids: [" + GPU + "]}");
        shop.create("RebootNode", "second", bad, "force: false");
        Predicate<ApiCall> writes =
                call -> call.method().equals("PATCH") && call.path().contains("/janitor.dgxc.nvidia.com/");
        try (FaultyApi faulty = new FaultyApi(fleet.plane);
                KubeClient api = fleet.asAggregator(faulty);
                JanitorReplica replica = new JanitorReplica(api)) {
            // A turn without an end fails instead.
            faulty.fail(writes, 200, new ApiFault.Delay(Duration.ZERO));
            faulty.fail(writes, ApiFault.broken());
            until(() -> replica.inProgress().keySet().equals(KINDS.keySet()), "the watches bring both");
            replica.works(bad);
            long first = faulty.count(writes);
            assertThat(first).as("writes of the first turns").isBetween(2L, 8L);
            replica.works(bad);
            assertThat(faulty.count(writes) - first)
                    .as("writes of the next turns")
                    .isLessThanOrEqualTo(2);
            assertThat(fleet.eventReasons(bad)).contains("MaintenanceLeftToOthers");
            assertThat(shop.running(bad)).isEmpty();
        }
    }
}
