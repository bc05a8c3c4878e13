package dev.gpuwarden.aggregator.control;

import static dev.gpuwarden.aggregator.control.TestFleet.settings;
import static dev.gpuwarden.aggregator.control.TestFleet.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.monitor.MonitorSettings;
import dev.gpuwarden.aggregator.monitor.ObjectMonitor;
import dev.gpuwarden.aggregator.monitor.PolicyStatus;
import dev.gpuwarden.aggregator.quarantine.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From objects to Nodes, on a real API server, with the rights, the policies and the rules that are shipped. */
class ObjectMonitorClusterTest {

    private static final Path POLICIES =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/monitor-policies.yaml");
    private static final String OPERATORS = "gpu-operator-pods-health";
    private static final String WAITING = "{\"waiting\": {\"reason\": \"CrashLoopBackOff\"}}";
    private static final String RUNNING = "{\"running\": {}}";

    @TempDir
    Path folder;

    private TestFleet fleet;

    @BeforeEach
    void start() throws IOException {
        fleet = TestFleet.start(folder);
        fleet.plane.apply(Files.readString(POLICIES));
        fleet.plane.kubectl("create", "namespace", "gpu-operator");
        fleet.plane.kubectl("create", "serviceaccount", "default", "--namespace=gpu-operator");
        fleet.silentNode("n1", "zone");
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    /** What an aggregator runs of it. */
    private final class Running implements AutoCloseable {
        private final ClusterApi api = fleet.asAggregator();
        private final Steering steering = Steering.start(api, settings("one", Mode.ARMED, 100), audit -> {});
        private final ObjectMonitor monitor = ObjectMonitor.start(
                api, steering, new MonitorSettings(Duration.ofMinutes(5), 8, Duration.ofSeconds(1), true));

        PolicyStatus status(String policy) {
            return monitor.statuses().stream()
                    .filter(status -> status.policy().equals(policy))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no status of " + policy));
        }

        void untilReason(String policy, String reason) {
            until(
                    () -> monitor.statuses().stream()
                            .anyMatch(status -> status.policy().equals(policy)
                                    && status.reason().equals(reason)),
                    policy + " is " + reason);
        }

        @Override
        public void close() {
            monitor.close();
            steering.close();
            api.close();
        }
    }

    private void pod(String name, Duration age, String phase, boolean ready, String state) {
        fleet.plane.apply("""
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: gpu-operator
                  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: validator, uid: u-1, controller: true}]
                spec:
                  nodeName: n1
                  containers: [{name: a, image: example.com/x}]
                """.formatted(name));
        is(name, age, phase, ready, state);
    }

    private void is(String name, Duration age, String phase, boolean ready, String state) {
        String started =
                Instant.now().minus(age).truncatedTo(ChronoUnit.SECONDS).toString();
        fleet.plane.kubectl(
                "patch", "pod", name, "--namespace=gpu-operator", "--subresource=status", "--patch", """
                {"status": {"phase": "%s", "startTime": "%s", "containerStatuses":
                  [{"name": "a", "ready": %s, "restartCount": 3, "image": "x", "imageID": "x", "state": %s}]}}
                """.formatted(
                                phase, started, ready, state));
    }

    private String annotation() {
        return fleet.get("n1", ".metadata.annotations.nvsentinel\\.dgxc\\.nvidia\\.com/policy-matches");
    }

    private String told(String path) {
        return fleet.plane.kubectl(
                "get",
                "nodehealth",
                "n1",
                "--ignore-not-found",
                "--output=jsonpath={.status.monitors[?(@.name==\"kubernetes-object-monitor\")]" + path + "}");
    }

    private String faults() {
        return told(".faults[*].entityValue");
    }

    @Test
    void aBrokenOperatorsPodTakesItsNodeOutAndBringsItBack() {
        Duration old = Duration.ofMinutes(40);
        try (Running running = new Running()) {
            pod("validator", old, "Running", false, WAITING);
            until(() -> fleet.cordoned("n1"), "the node is cordoned");
            assertThat(faults()).isEqualTo("gpu-operator/validator");
            assertThat(told(".faults[0].errorCode")).isEqualTo("GPU_OPERATOR_POD_UNHEALTHY");
            assertThat(told(".faults[0].agent")).isEqualTo("kubernetes-object-monitor");
            assertThat(told(".faults[0].checkName")).isEqualTo(OPERATORS);
            assertThat(told(".faults[0].recommendedAction")).isEqualTo("CONTACT_SUPPORT");
            until(() -> annotation().equals(OPERATORS + "/gpu-operator/validator"), "the annotation says so");

            is("validator", old, "Running", false, RUNNING);
            pod("other", old, "Pending", false, "{\"waiting\": {\"reason\": \"ImagePullBackOff\"}}");
            until(() -> faults().split(" ").length == 2, "the crash loop's brief running has cleared nothing");
            is("validator", old, "Running", true, RUNNING);
            until(() -> faults().equals("gpu-operator/other"), "the one is well");
            assertThat(fleet.cordoned("n1")).as("for the other one").isTrue();
            fleet.plane.kubectl("delete", "pod", "other", "--namespace=gpu-operator", "--force", "--grace-period=0");
            until(() -> !fleet.cordoned("n1"), "the node returns");
            until(() -> annotation().isEmpty(), "the annotation is gone");
            until(
                    () -> fleet.plane
                            .kubectl("get", "monitorpolicy", OPERATORS, "--no-headers")
                            .contains("True"),
                    "the policy is said to be ready");
            assertThat(running.monitor.failing()).isZero();
        }
    }

    @Test
    void aRestartNeitherRepeatsNorLosesAnything() {
        Duration old = Duration.ofMinutes(40);
        pod("stays", old, "Running", false, WAITING);
        pod("heals", old, "Pending", false, WAITING);
        pod("loops", old, "Running", false, WAITING);
        try (Running running = new Running()) {
            until(() -> faults().split(" ").length == 3, "all three are told");
            assertThat(running.monitor.failing()).isZero();
        }
        String version =
                fleet.plane.kubectl("get", "nodehealth", "n1", "--output=jsonpath={.metadata.resourceVersion}");
        try (Running running = new Running()) {
            until(
                    () -> running.monitor.followed().values().stream().anyMatch(ObjectMonitor.Followed::watching),
                    "it watches");
            running.untilReason(OPERATORS, "Ready");
            until(() -> running.monitor.queued() == 0, "all is done");
            assertThat(fleet.plane.kubectl("get", "nodehealth", "n1", "--output=jsonpath={.metadata.resourceVersion}"))
                    .as("nothing is written anew")
                    .isEqualTo(version);
        }
        is("heals", old, "Running", true, RUNNING);
        is("loops", old, "Running", false, RUNNING);
        try (Running running = new Running()) {
            until(() -> faults().split(" ").length == 2, "what healed meanwhile is gone");
            assertThat(running.status(OPERATORS).matches()).isEqualTo(2);
            assertThat(faults()).contains("gpu-operator/loops", "gpu-operator/stays");
            assertThat(fleet.cordoned("n1")).isTrue();
        }
    }

    private void policy(String name, String predicate, String more) {
        fleet.plane.apply(String.format(Locale.ROOT, """
                apiVersion: gpuwarden.dev/v1alpha1
                kind: MonitorPolicy
                metadata: {name: %s}
                spec:
                  resource: {group: "", version: v1, kind: Pod}
                  predicate: {expression: "%s"}
                  nodeAssociation: {expression: resource.spec.nodeName}
                  healthEvent: {componentClass: Software, isFatal: false, message: it is so, errorCode: [SO]}
                  %s
                """, name, predicate, more));
    }

    @Test
    void policiesMayChangeWhileItRuns() {
        pod("a", Duration.ofMinutes(1), "Running", true, RUNNING);
        policy("mine", "resource.metadata.name == 'a'", "");
        try (Running running = new Running()) {
            until(() -> faults().equals("gpu-operator/a"), "the pod is told of");
            policy("mine", "resource.metadata.name == 'b' &&", "");
            running.untilReason("mine", "DoesNotCompile");
            assertThat(running.status("mine").message()).contains("line 1 column");
            assertThat(faults()).as("what does not compile clears nothing").isEqualTo("gpu-operator/a");
            policy("mine", "resource.metadata.name == 'b'", "");
            until(() -> faults().isEmpty(), "it matches no more");
            policy("mine", "resource.metadata.name == 'a'", "");
            until(() -> faults().equals("gpu-operator/a"), "it matches again");
            policy("mine", "resource.metadata.name == 'a'", "enabled: false");
            until(() -> faults().isEmpty(), "it is switched off");
            policy("mine", "resource.metadata.name == 'a'", "enabled: true");
            until(() -> faults().equals("gpu-operator/a"), "it is switched on");
            fleet.plane.kubectl("delete", "monitorpolicy", "mine");
            until(() -> faults().isEmpty(), "it is deleted");
            policy("errs", "resource.spec.nothing == 'a'", "");
            policy("mine", "resource.metadata.name == 'a'", "");
            until(() -> faults().equals("gpu-operator/a"), "the others go on");
            running.untilReason("errs", "PredicateErrors");
            assertThat(running.status("errs").message()).contains("gpu-operator/a: ", "nothing");
            assertThat(running.status("mine").ready()).isTrue();
        }
    }

    @Test
    void timeAloneTakesANodeOut() {
        policy("slow", "now - timestamp(resource.status.startTime) > duration('6s')", "");
        try (Running running = new Running()) {
            running.untilReason("slow", "Ready");
            Instant started = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            pod("a", Duration.ZERO, "Pending", false, WAITING);
            until(() -> running.monitor.followed().values().stream().anyMatch(each -> each.timed() > 0), "it is kept");
            assertThat(faults()).isEmpty();
            until(() -> faults().equals("gpu-operator/a"), "its time comes");
            assertThat(Duration.between(started, Instant.now()))
                    .isBetween(Duration.ofSeconds(6), Duration.ofSeconds(10));
        }
    }

    @Test
    void aKindThatIsInstalledLaterIsFollowedFromThenOn() {
        fleet.plane.apply("""
                apiVersion: gpuwarden.dev/v1alpha1
                kind: MonitorPolicy
                metadata: {name: widgets}
                spec:
                  resource: {group: example.com, version: v1, kind: Widget}
                  predicate: {expression: "resource.spec.broken"}
                  nodeAssociation: {expression: resource.spec.node}
                  healthEvent: {componentClass: Software, isFatal: true, message: a widget is broken}
                """);
        try (Running running = new Running()) {
            running.untilReason("widgets", "ResourceNotFound");
            assertThat(running.status("widgets").message()).contains("the API server has no example.com/v1");
            running.untilReason(OPERATORS, "Ready");
            widgets();
            running.untilReason("widgets", "Forbidden");
            assertThat(running.status("widgets").message())
                    .contains(
                            "gpuwarden.dev/aggregate-to-monitor",
                            "{apiGroups: [\"example.com\"], resources: [widgets], verbs: [list, watch]}");
            until(
                    () -> fleet.plane
                            .kubectl("get", "mpol", "widgets", "--no-headers")
                            .contains("Forbidden"),
                    "it is told");
            fleet.plane.kubectl(
                    "create", "clusterrole", "widgets", "--verb=list,watch", "--resource=widgets.example.com");
            fleet.plane.kubectl(
                    "create",
                    "clusterrolebinding",
                    "widgets",
                    "--clusterrole=widgets",
                    "--serviceaccount=gpuwarden:gpuwarden-aggregator");
            running.untilReason("widgets", "Ready");
            widget("w1", "n1");
            until(() -> faults().equals("w1"), "a widget is told of");
            widget("w2", "nowhere");
            running.untilReason("widgets", "ObjectsWithoutNode");
            assertThat(running.status("widgets").message()).contains("nowhere");
            fleet.plane.kubectl("delete", "crd", "widgets.example.com", "--timeout=60s");
            until(() -> faults().isEmpty(), "with the kind its objects are gone");
            running.untilReason("widgets", "ResourceNotFound");
            widgets();
            running.untilReason("widgets", "Ready");
            widget("w3", "n1");
            until(() -> faults().equals("w3"), "it is followed again");
        }
    }

    private void widgets() {
        fleet.plane.apply("""
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
        fleet.plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "widgets.example.com");
    }

    private void widget(String name, String node) {
        fleet.plane.apply(
                "{apiVersion: example.com/v1, kind: Widget, metadata: {name: %s}, spec: {broken: true, node: %s}}"
                        .formatted(name, node));
    }
}
