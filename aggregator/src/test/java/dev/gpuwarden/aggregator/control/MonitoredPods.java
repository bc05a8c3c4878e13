package dev.gpuwarden.aggregator.control;

import static dev.gpuwarden.aggregator.control.TestFleet.settings;
import static dev.gpuwarden.aggregator.control.TestFleet.until;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.monitor.MonitorSettings;
import dev.gpuwarden.aggregator.monitor.ObjectMonitor;
import dev.gpuwarden.aggregator.monitor.PolicyStatus;
import dev.gpuwarden.aggregator.quarantine.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** A real API server with the shipped policies, a node without daemon, and pods of an operator on it. */
final class MonitoredPods implements AutoCloseable {

    static final String OPERATORS = "gpu-operator-pods-health";
    static final String WAITING = "{\"waiting\": {\"reason\": \"CrashLoopBackOff\"}}";
    static final String RUNNING = "{\"running\": {}}";

    private static final Path POLICIES =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/monitor-policies.yaml");

    final TestFleet fleet;

    MonitoredPods(Path folder) {
        fleet = TestFleet.start(folder);
        try {
            fleet.plane.apply(Files.readString(POLICIES));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        fleet.plane.kubectl("create", "namespace", "gpu-operator");
        fleet.plane.kubectl("create", "serviceaccount", "default", "--namespace=gpu-operator");
        fleet.silentNode("n1", "zone");
    }

    /** What an aggregator runs of it. */
    static final class Running implements AutoCloseable {
        private final ClusterApi api;
        final Steering steering;
        final ObjectMonitor monitor;

        Running(ClusterApi api) {
            this.api = api;
            this.steering = Steering.start(api, settings("one", Mode.ARMED, 100), audit -> {});
            this.monitor = ObjectMonitor.start(
                    api, steering, new MonitorSettings(Duration.ofMinutes(5), 8, Duration.ofSeconds(1), true));
        }

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

    Running run() {
        return new Running(fleet.asAggregator());
    }

    void pod(String name, Duration age, String phase, boolean ready, String state) {
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

    void is(String name, Duration age, String phase, boolean ready, String state) {
        String started =
                Instant.now().minus(age).truncatedTo(ChronoUnit.SECONDS).toString();
        fleet.plane.kubectl(
                "patch", "pod", name, "--namespace=gpu-operator", "--subresource=status", "--patch", """
                {"status": {"phase": "%s", "startTime": "%s", "containerStatuses":
                  [{"name": "a", "ready": %s, "restartCount": 3, "image": "x", "imageID": "x", "state": %s}]}}
                """.formatted(
                                phase, started, ready, state));
    }

    String annotation() {
        return fleet.get("n1", ".metadata.annotations.nvsentinel\\.dgxc\\.nvidia\\.com/policy-matches");
    }

    String told(String path) {
        return fleet.plane.kubectl(
                "get",
                "nodehealth",
                "n1",
                "--ignore-not-found",
                "--output=jsonpath={.status.monitors[?(@.name==\"kubernetes-object-monitor\")]" + path + "}");
    }

    String faults() {
        return told(".faults[*].entityValue");
    }

    void policy(String name, String predicate, String more) {
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

    @Override
    public void close() {
        fleet.close();
    }
}
