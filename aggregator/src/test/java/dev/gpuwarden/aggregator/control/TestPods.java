package dev.gpuwarden.aggregator.control;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.drain.DrainAudit;
import dev.gpuwarden.aggregator.drain.DrainMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.Drains;
import dev.gpuwarden.aggregator.quarantine.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Pods that are said to run on nodes that are objects only: no kubelet ends them, the test does. */
final class TestPods {

    private final TestFleet fleet;
    private final String namespace;

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

    static Steering steer(
            ClusterApi api, String identity, boolean armed, DrainPolicies policies, List<DrainAudit> audits) {
        return Steering.start(
                api,
                TestFleet.settings(identity, Mode.ARMED, 100),
                audit -> {},
                Optional.of(new Steering.Draining(new Drains.Settings(armed, policies), audits::add)));
    }

    TestPods(TestFleet fleet, String namespace) {
        this.fleet = fleet;
        this.namespace = namespace;
        fleet.plane.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "}}");
        // Without controllers nobody makes it; with them somebody may have.
        fleet.plane.apply(
                "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: " + namespace + "}}");
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
        fleet.plane.apply("""
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
        fleet.plane.kubectl(
                "patch",
                "pod",
                name,
                "--namespace=" + namespace,
                "--subresource=status",
                "--type=merge",
                "--patch",
                "{\"status\": " + status + "}");
    }

    /** Its last container is gone, and its kubelet says so. */
    void end(String name) {
        fleet.plane.kubectl(
                "delete", "pod", name, "--namespace=" + namespace, "--grace-period=0", "--force", "--wait=false");
    }

    /** Whether somebody has asked for its end. */
    boolean asked(String name) {
        return !get(name, ".metadata.deletionTimestamp").isEmpty();
    }

    String get(String name, String path) {
        return fleet.plane.kubectl(
                "get",
                "pod",
                name,
                "--namespace=" + namespace,
                "--ignore-not-found",
                "--output=jsonpath={" + path + "}");
    }

    /** Those that nobody has asked to end. */
    List<String> untouched() {
        String names = fleet.plane.kubectl(
                "get",
                "pods",
                "--namespace=" + namespace,
                "--output=jsonpath={range .items[*]}{.metadata.name}:{.metadata.deletionTimestamp} {end}");
        return Stream.of(names.split(" "))
                .filter(name -> name.endsWith(":"))
                .map(name -> name.substring(0, name.length() - 1))
                .sorted()
                .collect(Collectors.toList());
    }

    void delete() {
        fleet.plane.kubectl(
                "delete", "pods", "--all", "--namespace=" + namespace, "--grace-period=0", "--force", "--wait=false");
    }
}
