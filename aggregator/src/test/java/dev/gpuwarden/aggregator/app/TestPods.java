package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Pods on nodes that are objects only: no kubelet ends them, the test does. */
final class TestPods {

    private static final DrainTimes TIMES = new DrainTimes(
            Duration.ofMillis(1500), Duration.ofMillis(500), Duration.ofMillis(200), Duration.ofSeconds(1));

    private final TestFleet fleet;
    final String namespace;

    /** Returns policies with one mode for all namespaces. Pods that would lose data are evicted too. */
    static DrainPolicies policies(DrainMode mode, Duration timeout) {
        return policies(mode, timeout, true);
    }

    /** @param allPods whether pods with an emptyDir or without a controller are evicted too */
    static DrainPolicies policies(DrainMode mode, Duration timeout, boolean allPods) {
        DrainPolicies usual = DrainPolicies.DEFAULT;
        return new DrainPolicies(
                List.of(),
                List.of(new DrainPolicies.NamespaceRule(new DrainPolicies.Glob("*"), mode)),
                usual.system(),
                usual.grace(),
                timeout,
                usual.notReady(),
                usual.notice(),
                allPods,
                allPods);
    }

    static Controllers steer(
            KubeClient api, String identity, boolean armed, DrainPolicies policies, List<Entry> audits) {
        return Controllers.start(
                api,
                TestFleet.settings(identity, ActionMode.ARMED, 100),
                audit -> {},
                Optional.of(new Controllers.Draining(
                        new DrainReconciler.Settings(armed, policies, TIMES, false, false), audits::add)),
                Optional.empty());
    }

    /** Returns controllers that evict all pods of a GPU immediately, also those that hold it by a process alone. */
    static Controllers evictingProcesses(KubeClient api, List<Entry> audits) {
        DrainReconciler.Settings drains = new DrainReconciler.Settings(
                true, policies(DrainMode.IMMEDIATE, Duration.ofHours(1)), TIMES, false, true);
        return Controllers.start(
                api,
                TestFleet.settings("one", ActionMode.ARMED, 100),
                audit -> {},
                Optional.of(new Controllers.Draining(drains, audits::add)),
                Optional.empty());
    }

    /** Returns controllers that evict all pods immediately, and repair. */
    static Controllers repairing(
            KubeClient api, String identity, RepairReconciler.Settings repairs, List<Entry> audits) {
        return repairing(api, identity, new Controllers.Repairing(repairs, audits::add, Optional.empty()));
    }

    /** Returns controllers that evict all pods immediately, repair, and carry out the repairs by Jobs. */
    static Controllers maintaining(KubeClient api, RepairReconciler.Settings repairs, List<Entry> audits) {
        JanitorSettings jobs = Workshop.settings(RebootProvider.JOB, Workshop.times(Duration.ofMinutes(1)));
        return repairing(api, "one", new Controllers.Repairing(repairs, audits::add, Optional.of(jobs)));
    }

    private static Controllers repairing(KubeClient api, String identity, Controllers.Repairing repairs) {
        DrainReconciler.Settings drains = new DrainReconciler.Settings(
                true, policies(DrainMode.IMMEDIATE, Duration.ofHours(1)), TIMES, false, false);
        return Controllers.start(
                api,
                TestFleet.settings(identity, ActionMode.ARMED, 100),
                audit -> {},
                Optional.of(new Controllers.Draining(drains, audit -> {})),
                Optional.of(repairs));
    }

    TestPods(TestFleet fleet, String namespace) {
        this.fleet = fleet;
        this.namespace = namespace;
        // Without controllers no process creates the account; with them it may already exist.
        fleet.client.apply("""
            {apiVersion: v1, kind: Namespace, metadata: {name: %s}}
            ---
            {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %s}}
            """.formatted(namespace, namespace));
    }

    /** Creates a pod that runs and is ready. No controller starts it again. */
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
            "state": {"running": {}}%s}]}\
            """.formatted(container));
    }

    /** Writes the status like the kubelet. */
    void status(String name, String status) {
        fleet.client.patch(reference(name) + "/status", "{\"status\": " + status + "}");
    }

    /** Returns the name with the namespace, as messages contain it. */
    String path(String name) {
        return namespace + "/" + name;
    }

    private String reference(String name) {
        return "pod/" + path(name);
    }

    /** Ends the pod like its kubelet after its last container. */
    void end(String name) {
        fleet.client.deleteNow(reference(name));
    }

    /** Returns true if the deletion of the pod was requested. */
    boolean asked(String name) {
        return !get(name, ".metadata.deletionTimestamp").isEmpty();
    }

    /** Returns a field of the pod; empty if the pod was deleted. */
    String get(String name, String path) {
        return fleet.client.find(reference(name), path);
    }

    void annotate(String name, String annotation, String value) {
        fleet.client.patch(
                reference(name), "{\"metadata\": {\"annotations\": {\"" + annotation + "\": \"" + value + "\"}}}");
    }

    /** Returns the names of the pods whose deletion was not requested. */
    List<String> untouched() {
        return JsonTrees.objects(fleet.client.get("pods/" + namespace), "items").stream()
                .map(pod -> JsonTrees.object(pod, "metadata"))
                .filter(meta -> !meta.containsKey("deletionTimestamp"))
                .map(meta -> JsonTrees.text(meta, "name"))
                .sorted()
                .toList();
    }
}
