package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainAuditLog.DrainAudit;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Pods that are said to run on nodes that are objects only: no kubelet ends them, the test does. */
final class TestPods {

    private static final DrainTimes TIMES = new DrainTimes(
            Duration.ofMillis(1500), Duration.ofMillis(500), Duration.ofMillis(200), Duration.ofSeconds(1));

    private final TestFleet fleet;
    final String namespace;

    /** For all namespaces; whatever pods would lose by it. */
    static DrainPolicies policies(DrainMode mode, Duration timeout) {
        DrainPolicies usual = DrainPolicies.DEFAULT;
        return new DrainPolicies(
                List.of(),
                List.of(new DrainPolicies.NamespaceRule(new DrainPolicies.Glob("*"), mode)),
                usual.system(),
                usual.grace(),
                timeout,
                usual.notReady(),
                usual.notice(),
                true,
                true);
    }

    static Controllers steer(
            KubeClient api, String identity, boolean armed, DrainPolicies policies, List<DrainAudit> audits) {
        return Controllers.start(
                api,
                TestFleet.settings(identity, ActionMode.ARMED, 100),
                audit -> {},
                Optional.of(new Controllers.Draining(
                        new DrainReconciler.Settings(armed, policies, TIMES, false), audits::add)));
    }

    TestPods(TestFleet fleet, String namespace) {
        this.fleet = fleet;
        this.namespace = namespace;
        // Without controllers nobody makes the account; with them somebody may have.
        fleet.client.apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: %s}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %s}}
                """.formatted(namespace, namespace));
    }

    /** Runs and is ready. Nobody starts it again. */
    void run(String node, String name) {
        run(node, name, "", "");
    }

    /**
     * @param meta more of its metadata, as `, finalizers: [example.com/hold]`
     * @param container more of its container's status
     */
    void run(String node, String name, String meta, String container) {
        run(node, name, meta, "", container);
    }

    void run(String node, String name, String meta, String spec, String container) {
        fleet.client.apply("""
                {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s, labels: {app: %s}%s},
                spec: {nodeName: %s, containers: [{name: main, image: example.com/main:1%s}]}}
                """.formatted(name, namespace, namespace, meta, node, spec));
        status(name, """
                {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [{"name": "main", "image": "i", "imageID": "i", "ready": true, "restartCount": 0,
                "state": {"running": {}}%s}]}""".formatted(container));
    }

    /** As its kubelet writes it. */
    void status(String name, String status) {
        fleet.client.patch(reference(name) + "/status", "{\"status\": " + status + "}");
    }

    /** As people are told of it: with its namespace. */
    String path(String name) {
        return namespace + "/" + name;
    }

    private String reference(String name) {
        return "pod/" + path(name);
    }

    /** Its last container is gone, and its kubelet says so. */
    void end(String name) {
        fleet.client.deleteNow(reference(name));
    }

    /** Whether somebody has asked for its end. */
    boolean asked(String name) {
        return !get(name, ".metadata.deletionTimestamp").isEmpty();
    }

    /** Empty where it is gone. */
    String get(String name, String path) {
        return fleet.client.find(reference(name), path);
    }

    void annotate(String name, String annotation, String value) {
        fleet.client.patch(
                reference(name), "{\"metadata\": {\"annotations\": {\"" + annotation + "\": \"" + value + "\"}}}");
    }

    /** Those that nobody has asked to end. */
    List<String> untouched() {
        return JsonTrees.objects(fleet.client.get("pods/" + namespace), "items").stream()
                .map(pod -> JsonTrees.object(pod, "metadata"))
                .filter(meta -> !meta.containsKey("deletionTimestamp"))
                .map(meta -> JsonTrees.text(meta, "name"))
                .sorted()
                .toList();
    }
}
