package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.MonitoredPods.OPERATORS;
import static dev.gpuwarden.aggregator.app.MonitoredPods.RUNNING;
import static dev.gpuwarden.aggregator.app.MonitoredPods.WAITING;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.app.MonitoredPods.Running;
import dev.gpuwarden.aggregator.objectmonitor.ObjectMonitor;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of the object monitor on a real API server with the shipped rights, policies and rules: from objects to Nodes. */
@Tag("api")
@ExtendWith(UsedRights.class)
class ObjectMonitorClusterTest {

    private MonitoredPods pods;
    private TestFleet fleet;

    @BeforeEach
    void start() {
        pods = new MonitoredPods();
        fleet = pods.fleet;
    }

    @AfterEach
    void end() {
        if (pods != null) {
            pods.close();
        }
    }

    @Test
    void failedOperatorPodQuarantinesItsNodeUntilItRecovers() {
        Duration old = Duration.ofMinutes(40);
        try (Running running = pods.run()) {
            pods.pod("validator", old, "Running", false, WAITING);
            until(() -> fleet.cordoned(pods.node), "the node is cordoned");
            assertThat(pods.faults()).isEqualTo("gpu-operator/validator");
            assertThat(pods.reported(".faults[0].errorCode")).isEqualTo("GPU_OPERATOR_POD_UNHEALTHY");
            assertThat(pods.reported(".faults[0].agent")).isEqualTo("kubernetes-object-monitor");
            assertThat(pods.reported(".faults[0].checkName")).isEqualTo(OPERATORS);
            assertThat(pods.reported(".faults[0].recommendedAction")).isEqualTo("CONTACT_SUPPORT");
            until(() -> pods.annotation().equals(OPERATORS + "/gpu-operator/validator"), "the annotation is written");

            pods.is("validator", old, "Running", false, RUNNING);
            pods.pod("other", old, "Pending", false, "{\"waiting\": {\"reason\": \"ImagePullBackOff\"}}");
            until(() -> pods.faults().split(" ").length == 2, "the crash loop's brief running has cleared nothing");
            pods.is("validator", old, "Running", true, RUNNING);
            until(() -> pods.faults().equals("gpu-operator/other"), "the one is well");
            assertThat(fleet.cordoned(pods.node)).as("for the other one").isTrue();
            pods.end("other");
            until(() -> !fleet.cordoned(pods.node), "the node returns");
            until(() -> pods.annotation().isEmpty(), "the annotation is gone");
            until(
                    () -> fleet.client
                            .get("monitorpolicy/" + OPERATORS, ".status.conditions[?(@.type==\"Ready\")].status")
                            .equals("True"),
                    "the policy is reported ready");
            assertThat(running.monitor.failing()).isZero();
        }
    }

    @Test
    void restartNeitherRepeatsNorLosesAFault() {
        Duration old = Duration.ofMinutes(40);
        pods.policy("three", "resource.metadata.namespace == 'gpu-operator'", "minMatches: 3");
        pods.pod("stays", old, "Running", false, WAITING);
        pods.pod("heals", old, "Pending", false, WAITING);
        pods.pod("loops", old, "Running", false, WAITING);
        try (Running running = pods.run()) {
            until(() -> pods.faults().split(" ").length == 3, "all three faults are written");
            until(
                    () -> pods.reported(".faults[?(@.checkName==\"three\")].message")
                            .equals("it is so (3 match, 3 raise this: gpu-operator/heals, gpu-operator/loops,"
                                    + " gpu-operator/stays)"),
                    "and together, as one fault of the node");
            assertThat(running.monitor.failing()).isZero();
        }
        String version = fleet.client.get("nodehealth/" + pods.node, ".metadata.resourceVersion");
        try (Running running = pods.run()) {
            until(
                    () -> running.monitor.followed().values().stream().anyMatch(ObjectMonitor.Followed::watching),
                    "it watches");
            running.untilReason(OPERATORS, "Ready");
            until(() -> running.monitor.queued() == 0, "all is done");
            assertThat(fleet.client.get("nodehealth/" + pods.node, ".metadata.resourceVersion"))
                    .as("nothing is written anew")
                    .isEqualTo(version);
        }
        pods.is("heals", old, "Running", true, RUNNING);
        pods.is("loops", old, "Running", false, RUNNING);
        try (Running running = pods.run()) {
            until(() -> pods.faults().split(" ").length == 2, "what healed meanwhile is gone");
            assertThat(running.status(OPERATORS).matches()).isEqualTo(2);
            assertThat(pods.faults()).contains("gpu-operator/loops", "gpu-operator/stays");
            assertThat(fleet.cordoned(pods.node)).isTrue();
        }
    }

    @Test
    void policiesCanChangeWhileTheMonitorRuns() {
        pods.pod("a", Duration.ofMinutes(1), "Running", true, RUNNING);
        pods.policy("mine", "resource.metadata.name == 'a'", "");
        try (Running running = pods.run()) {
            until(() -> pods.faults().equals("gpu-operator/a"), "the fault of the pod is written");
            pods.policy("mine", "resource.metadata.name == 'b' &&", "");
            running.untilReason("mine", "DoesNotCompile");
            assertThat(running.status("mine").message()).contains("line 1 column");
            assertThat(pods.faults()).as("what does not compile clears nothing").isEqualTo("gpu-operator/a");
            pods.policy("mine", "resource.metadata.name == 'b'", "");
            until(() -> pods.faults().isEmpty(), "it matches no more");
            pods.policy("mine", "resource.metadata.name == 'a'", "");
            until(() -> pods.faults().equals("gpu-operator/a"), "it matches again");
            pods.policy("mine", "resource.metadata.name == 'a'", "enabled: false");
            until(() -> pods.faults().isEmpty(), "it is switched off");
            pods.policy("mine", "resource.metadata.name == 'a'", "enabled: true");
            until(() -> pods.faults().equals("gpu-operator/a"), "it is switched on");
            fleet.client.delete("monitorpolicy/mine");
            until(() -> pods.faults().isEmpty(), "it is deleted");
            pods.policy("errs", "resource.spec.nothing == 'a'", "");
            pods.policy("mine", "resource.metadata.name == 'a'", "");
            until(() -> pods.faults().equals("gpu-operator/a"), "the others go on");
            running.untilReason("errs", "PredicateErrors");
            assertThat(running.status("errs").message()).contains("gpu-operator/a: ", "nothing");
            assertThat(running.status("mine").ready()).isTrue();
        }
    }

    @Test
    void timeAloneQuarantinesANode() {
        pods.policy("slow", "now - timestamp(resource.status.startTime) > duration('3s')", "");
        try (Running running = pods.run()) {
            running.untilReason("slow", "NothingInScope");
            Instant started = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            pods.pod("a", Duration.ZERO, "Pending", false, WAITING);
            until(() -> running.monitor.followed().values().stream().anyMatch(each -> each.timed() > 0), "it is kept");
            assertThat(pods.faults()).isEmpty();
            until(() -> pods.faults().equals("gpu-operator/a"), "its time comes");
            assertThat(Duration.between(started, Instant.now()))
                    .isBetween(Duration.ofSeconds(3), Duration.ofSeconds(13));
        }
    }

    @Test
    void kindThatIsInstalledLaterIsWatched() {
        widgetPolicy("a widget is broken");
        try (Running running = pods.run()) {
            running.untilReason("widgets", "ResourceNotFound");
            assertThat(running.status("widgets").message()).contains("the API server has no example.com/v1");
            running.untilReason(OPERATORS, "NothingInScope");
            widgets();
            running.untilReason("widgets", "Forbidden");
            assertThat(running.status("widgets").message())
                    .contains(
                            "gpuwarden.dev/aggregate-to-monitor",
                            "{apiGroups: [\"example.com\"], resources: [widgets], verbs: [list, watch]}");
            until(
                    () -> fleet.plane
                            .kubectl("get", "mpol", "widgets", "--no-headers")
                            .matches("(?s)widgets +False +Forbidden .*"),
                    "the missing right is reported");
            fleet.client.apply("""
                    apiVersion: rbac.authorization.k8s.io/v1
                    kind: ClusterRole
                    metadata: {name: widgets}
                    rules: [{apiGroups: [example.com], resources: [widgets], verbs: [list, watch]}]
                    ---
                    apiVersion: rbac.authorization.k8s.io/v1
                    kind: ClusterRoleBinding
                    metadata: {name: widgets}
                    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: widgets}
                    subjects: [{kind: ServiceAccount, name: gpuwarden-aggregator, namespace: gpuwarden}]
                    """);
            running.untilReason("widgets", "NothingInScope");
            assertThat(running.status("widgets").ready()).isTrue();
            widget("w1", pods.node);
            until(() -> pods.faults().equals("w1"), "the fault of a widget is written");
            widget("w2", "nowhere");
            running.untilReason("widgets", "ObjectsWithoutNode");
            assertThat(running.status("widgets").message()).contains("nowhere");
            fleet.client.delete("crd/widgets.example.com");
            until(() -> fleet.client.find("crd/widgets.example.com").isEmpty(), "the kind is gone");
            until(() -> pods.faults().isEmpty(), "with the kind its objects are gone");
            running.untilReason("widgets", "ResourceNotFound");
            widgets();
            running.untilReason("widgets", "NothingInScope");
            widget("w3", pods.node);
            until(() -> pods.faults().equals("w3"), "it is followed again");
            widget("w4", pods.node);
            widget("w5", pods.node);
            until(() -> pods.faults().equals("w3 w4 w5"), "so few may all be wrong");
            widget("w6", pods.node);
            running.untilReason("widgets", "MatchesEverything");
            until(() -> running.status("widgets").matches() == 4, "the new match is counted");
            assertThat(pods.faults()).as("nothing new, nothing less").isEqualTo("w3 w4 w5");
            String message = running.status("widgets").message();
            fleet.plane.kubectl(
                    message.substring(message.indexOf("kubectl ") + 8).split(" "));
            until(() -> pods.faults().equals("w3 w4 w5 w6"), "it is confirmed");
            running.untilReason("widgets", "Ready");
            widgetPolicy("another message");
            running.untilReason("widgets", "MatchesEverything");
            assertThat(pods.faults()).as("reported before it was changed").isEqualTo("w3 w4 w5 w6");
            fleet.client.delete("monitorpolicy/widgets");
            until(() -> pods.faults().isEmpty(), "with the policy its faults are gone");
            widgetPolicy("a widget is broken");
            running.untilReason("widgets", "MatchesEverything");
            until(() -> running.monitor.queued() == 0, "all is done");
            assertThat(pods.faults())
                    .as("not even of the first that were listed")
                    .isEmpty();
        }
    }

    private void widgetPolicy(String message) {
        fleet.client.apply("""
                apiVersion: gpuwarden.dev/v1alpha1
                kind: MonitorPolicy
                metadata: {name: widgets}
                spec:
                  resource: {group: example.com, version: v1, kind: Widget}
                  predicate: {expression: "resource.spec.broken"}
                  nodeAssociation: {expression: resource.spec.node}
                  healthEvent: {componentClass: Software, isFatal: true, message: %s}
                """.formatted(message));
    }

    private void widgets() {
        fleet.client.apply("""
                apiVersion: apiextensions.k8s.io/v1
                kind: CustomResourceDefinition
                metadata: {name: widgets.example.com}
                spec:
                  group: example.com
                  scope: Cluster
                  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
                  versions:
                    - name: v1
                      served: true
                      storage: true
                      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
                """);
        fleet.client.await("crd/widgets.example.com", ".status.conditions[?(@.type==\"Established\")].status", "True");
    }

    private void widget(String name, String node) {
        fleet.client.apply(
                "{apiVersion: example.com/v1, kind: Widget, metadata: {name: %s}, spec: {broken: true, node: %s}}"
                        .formatted(name, node));
    }
}
