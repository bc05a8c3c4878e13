package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.TestFleet.settings;
import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.objectmonitor.MonitorSettings;
import dev.gpuwarden.aggregator.objectmonitor.ObjectMonitor;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** A real API server with the shipped policies, a node without daemon, and pods of an operator on it. */
final class MonitoredPods implements AutoCloseable {

    static final String OPERATORS = "gpu-operator-pods-health";
    static final String WAITING = "{\"waiting\": {\"reason\": \"CrashLoopBackOff\"}}";
    static final String RUNNING = "{\"running\": {}}";

    final TestFleet fleet;
    final String node;

    MonitoredPods() {
        fleet = TestFleet.start();
        fleet.apply("monitor-policies.yaml");
        fleet.client.apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: gpu-operator}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: gpu-operator}}
                """);
        node = fleet.named("n");
        fleet.silentNode(node, "zone");
    }

    /** The parts of an aggregator that run in the test. */
    static final class Running implements AutoCloseable {
        private final KubeClient api;
        final Controllers controllers;
        final ObjectMonitor monitor;

        Running(KubeClient api) {
            this(api, "one");
        }

        /** @param identity the name of this replica in the leader election */
        Running(KubeClient api, String identity) {
            this.api = api;
            this.controllers = Controllers.start(api, settings(identity, ActionMode.ARMED, 100), audit -> {});
            this.monitor = ObjectMonitor.start(
                    api,
                    controllers.cache(),
                    controllers::onLeading,
                    new MonitorSettings(
                            Duration.ofMinutes(5),
                            8,
                            Duration.ofMillis(100),
                            true,
                            4,
                            Duration.ofMillis(500),
                            Duration.ofSeconds(1)));
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
            controllers.close();
            api.close();
        }
    }

    Running run() {
        return new Running(fleet.asAggregator());
    }

    void pod(String name, Duration age, String phase, boolean ready, String state) {
        fleet.client.apply("""
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: gpu-operator
                  labels: {app.kubernetes.io/managed-by: gpu-operator}
                  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: validator, uid: u-1, controller: true}]
                spec:
                  nodeName: %s
                  containers: [{name: a, image: example.com/x}]
                """.formatted(name, node));
        is(name, age, phase, ready, state);
    }

    void is(String name, Duration age, String phase, boolean ready, String state) {
        String started =
                Instant.now().minus(age).truncatedTo(ChronoUnit.SECONDS).toString();
        fleet.client.patch("pod/gpu-operator/" + name + "/status", """
                {"status": {"phase": "%s", "startTime": "%s", "containerStatuses":
                  [{"name": "a", "ready": %s, "restartCount": 3, "image": "x", "imageID": "x", "state": %s}]}}
                """.formatted(phase, started, ready, state));
    }

    void end(String name) {
        fleet.client.deleteNow("pod/gpu-operator/" + name);
    }

    String annotation() {
        return fleet.get(node, ".metadata.annotations.nvsentinel\\.dgxc\\.nvidia\\.com/policy-matches");
    }

    String reported(String path) {
        return fleet.client.find(
                "nodehealth/" + node, ".status.monitors[?(@.name==\"kubernetes-object-monitor\")]" + path);
    }

    String faults() {
        return reported(".faults[*].entityValue");
    }

    void policy(String name, String predicate, String more) {
        fleet.client.apply(String.format(Locale.ROOT, """
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
