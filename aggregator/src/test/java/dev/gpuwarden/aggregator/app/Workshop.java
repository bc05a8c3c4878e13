package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.janitor.JanitorController;
import dev.gpuwarden.aggregator.janitor.JanitorPart;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.NodeCommand;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Nodes with maintenance on a real API server. It does the part of kubelet, Job controller and GPU Operator, and checks that
 * each action happens once and under its lock.
 */
final class Workshop {

    static final String LOCKS = "locks";
    static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    static final List<String> SERVICES = List.of("device-plugin", "dcgm", "dcgm-exporter", "gpu-feature-discovery");

    private static final String JOBS = "jobs/gpuwarden";

    final TestFleet fleet;
    final ApiClient client;
    /** The actions that a node has had, as names of Jobs. */
    final Map<String, List<String>> actions = new HashMap<>();

    private final Set<String> failing = new HashSet<>();
    private final Set<String> stuck = new HashSet<>();

    Workshop(TestFleet fleet) {
        this.fleet = fleet;
        this.client = fleet.client;
        client.apply("{apiVersion: v1, kind: Namespace, metadata: {name: locks}}");
        client.apply("""
            apiVersion: rbac.authorization.k8s.io/v1
            kind: Role
            metadata: {name: locks, namespace: locks}
            rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, delete]}]
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: RoleBinding
            metadata: {name: locks, namespace: locks}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: locks}
            subjects: [{kind: ServiceAccount, name: gpuwarden-aggregator, namespace: gpuwarden}]
            """);
        client.apply("{apiVersion: v1, kind: Namespace, metadata: {name: gpu-operator}}");
        client.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: gpu-operator}}");
    }

    static JanitorTimes times(Duration limit) {
        return new JanitorTimes(
                limit, Duration.ofMinutes(1), limit, limit, limit, Duration.ofDays(1), Duration.ofMillis(50));
    }

    /** A running janitor, which leads. */
    record Running(Manager manager, JanitorController janitor, NodeCache nodes) implements AutoCloseable {

        boolean idle() {
            return manager.isRunning()
                    && janitor.queue().size() == 0
                    && janitor.queue().failing() == 0;
        }

        @Override
        public void close() {
            manager.close();
        }
    }

    static JanitorSettings settings(RebootProvider reboot, JanitorTimes times) {
        return new JanitorSettings(
                "gpuwarden",
                LOCKS,
                "gpuwarden:test",
                reboot,
                reboot == RebootProvider.COMMAND
                        ? Optional.of(new NodeCommand("power:test", List.of("power", "--cycle"), Optional.of("bmc")))
                        : Optional.empty(),
                SystemNamespaces.of("kube-system|gpu-operator"),
                times);
    }

    static Running start(KubeClient api, String identity) {
        return start(api, identity, RebootProvider.JOB, times(Duration.ofMinutes(1)));
    }

    static Running start(KubeClient api, String identity, RebootProvider reboot, JanitorTimes times) {
        return start(api, identity, reboot, NodeProvider.none(), times);
    }

    static Running start(
            KubeClient api, String identity, RebootProvider reboot, NodeProvider provider, JanitorTimes times) {
        Replica replica = Controllers.replica(api, new Closer());
        Manager manager = replica.manager();
        NodeCache nodes = replica.cache();
        JanitorPart part = new JanitorPart(() -> "gpuwarden", new DrainPart(new QuarantinePart()), () -> true);
        part.start(replica, settings(reboot, times), provider, audit -> {});
        JanitorController janitor = part.controller().orElseThrow();
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            var watch = manager.keep(api.informer(kind.resources(), janitor.listener(kind)));
        }
        var unused = manager.watch(NodeCache.NODES, nodes.nodes());
        unused = manager.watch(NodeHealthClient.ALL, nodes.healths());
        manager.start("gpuwarden", identity, TestFleet.ELECTION);
        return new Running(manager, janitor, nodes);
    }

    /** Creates a drained node of boot 1. */
    void node(String name) {
        fleet.silentNode(name, "zone");
        fleet.cordon(name);
        boot(name, name + "-boot-1");
    }

    /** Gives the Node this boot ID. */
    void boot(String node, String id) {
        client.patch("node/" + node + "/status", """
            {"status": {"nodeInfo": {"bootID": "%s", "architecture": "", "containerRuntimeVersion": "",
            "kernelVersion": "", "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "",
            "operatingSystem": "", "osImage": "", "systemUUID": ""},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}]}}
            """.formatted(id));
    }

    /** Gives the node the services of the GPU Operator, all but DCGM, which its operator has disabled. */
    void services(String node) {
        for (String service : SERVICES) {
            String value = service.equals("dcgm") ? "false" : "true";
            client.patch(
                    "node/" + node,
                    "{\"metadata\": {\"labels\": {\"nvidia.com/gpu.deploy.%s\": \"%s\"}}}".formatted(service, value));
        }
        operate(node);
    }

    Map<String, String> labels(String node) {
        Map<String, String> labels =
                new TreeMap<>(JsonTrees.texts(JsonTrees.object(client.get("node/" + node), "metadata"), "labels"));
        labels.keySet().removeIf(key -> !key.startsWith("nvidia.com/"));
        return labels;
    }

    void reset(String node) {
        create("GPUReset", node, node, "selector: {uuids: [" + GPU + "]}");
    }

    void reboot(String node) {
        create("RebootNode", node, node, "force: false");
    }

    void create(String kind, String name, String node, String rest) {
        client.apply(
                "{apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: %s, metadata: {name: maintenance-%s}, spec: {nodeName: %s, %s}}"
                        .formatted(kind, name, node, rest));
    }

    /** Lets the Jobs of the node fail. */
    void fails(String node) {
        failing.add(node);
    }

    /** Lets the Jobs and pods of the node never end. */
    void hangs(String node) {
        stuck.add(node);
    }

    /** Does one round of the part of kubelet, Job controller and GPU Operator. */
    void play(String node) {
        operate(node);
        List<Map<String, Object>> jobs = running(node);
        assertThat(jobs).as("actions on " + node).hasSizeLessThanOrEqualTo(1);
        if (!stuck.contains(node)) {
            jobs.forEach(job -> act(node, job));
        }
    }

    /** Returns the Jobs of the node whose pods would run now. */
    List<Map<String, Object>> running(String node) {
        return JsonTrees.objects(client.get(JOBS), "items").stream()
                .filter(job -> JsonTrees.text(spec(job), "nodeName").equals(node))
                .filter(job -> !JsonTrees.isTrue(JsonTrees.object(job, "spec"), "suspend"))
                .filter(job -> JsonTrees.objects(JsonTrees.object(job, "status"), "conditions")
                        .isEmpty())
                .toList();
    }

    private void act(String node, Map<String, Object> job) {
        Map<String, Object> metadata = JsonTrees.object(job, "metadata");
        String name = JsonTrees.text(metadata, "name");
        assertThat(client.find("lease/locks/" + node, ".metadata.ownerReferences[0].uid"))
                .as("the lock during " + name)
                .isEqualTo(JsonTrees.text(JsonTrees.object(metadata, "labels"), "gpuwarden.dev/maintenance"));
        if (name.startsWith("gpu-reset-")) {
            assertThat(pods(node)).as("services during the reset").isEmpty();
        }
        actions.computeIfAbsent(node, any -> new ArrayList<>()).add(name);
        boolean fail = failing.contains(node);
        if (name.startsWith("reboot-") && !fail) {
            boot(node, node + "-boot-2");
        }
        end(name, job, fail);
    }

    private void end(String name, Map<String, Object> job, boolean fail) {
        if (fail) {
            pod(name, job);
        }
        String now = Instant.now().toString().substring(0, 19) + "Z";
        String condition = "{\"type\": \"%s\", \"status\": \"True\", \"reason\": \"Test\", \"message\": \"over\","
                + " \"lastTransitionTime\": \"%s\"}";
        patchIfThere("job/gpuwarden/" + name + "/status", """
            {"status": {"startTime": "%s", %s "conditions": [%s, %s]}}
            """.formatted(
                        now,
                        fail ? "\"failed\": 1," : "\"succeeded\": 1, \"completionTime\": \"" + now + "\",",
                        condition.formatted(fail ? "FailureTarget" : "SuccessCriteriaMet", now),
                        condition.formatted(fail ? "Failed" : "Complete", now)));
    }

    /** Does what a Job controller does: the janitor may delete the Job once its node has rebooted, and the Job needs no end then. */
    private void patchIfThere(String reference, String patch) {
        try {
            client.patch(reference, patch);
        } catch (ApiException e) {
            if (e.status() != ApiException.NOT_FOUND) {
                throw e;
            }
        }
    }

    /** Creates the pod of a Job that failed, with the end of its log. */
    private void pod(String name, Map<String, Object> job) {
        String uid = JsonTrees.text(
                JsonTrees.object(JsonTrees.object(job, "metadata"), "labels"), "gpuwarden.dev/maintenance");
        client.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: gpuwarden}}");
        client.apply("""
            {apiVersion: v1, kind: Pod, metadata: {name: "%s", namespace: gpuwarden, labels: {gpuwarden.dev/maintenance: "%s"}},
            spec: {nodeName: none, containers: [{name: action, image: none}]}}\
            """.formatted(name, uid));
        client.patch("pod/gpuwarden/" + name + "/status", """
            {"status": {"phase": "Failed", "containerStatuses": [{"name": "action", "image": "", "imageID": "", "ready": false,
            "restartCount": 0, "state": {"terminated": {"exitCode": 1, "reason": "Error", "message":
            "done\\": false,\\n      \\"detail\\": \\"In use by another client\\"\\n    }\\n  ]\\n}\\ngpuwarden: verify\\ngpuwarden: GPU-a: the reset failed at the step reset: In use by another client\\n"}}}]}}
            """);
    }

    /** Starts and ends the pods of the services by the labels of the node. */
    private void operate(String node) {
        Map<String, String> labels = labels(node);
        for (String service : SERVICES) {
            String label = "nvidia.com/gpu.deploy." + service;
            String pod = service + "-" + node;
            boolean wanted = "true".equals(labels.get(label));
            boolean there = client.find("pod/gpu-operator/" + pod).isPresent();
            if (wanted && !there) {
                client.apply("""
                    {apiVersion: v1, kind: Pod, metadata: {name: "%s", namespace: gpu-operator,
                    ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: d, controller: true}]},
                    spec: {nodeName: "%s", nodeSelector: {%s: "true"}, containers: [{name: main, image: none}]}}
                    """.formatted(pod, node, label));
                client.patch("pod/gpu-operator/" + pod + "/status", """
                    {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}\
                    """);
            } else if (!wanted && there && !stuck.contains(node)) {
                client.deleteNow("pod/gpu-operator/" + pod);
            }
        }
    }

    private List<String> pods(String node) {
        return JsonTrees.objects(client.get("pods/gpu-operator"), "items").stream()
                .filter(pod -> JsonTrees.text(JsonTrees.object(pod, "spec"), "nodeName")
                        .equals(node))
                .map(pod -> JsonTrees.text(JsonTrees.object(pod, "metadata"), "name"))
                .toList();
    }

    private static Map<String, Object> spec(Map<String, Object> job) {
        return JsonTrees.object(JsonTrees.object(JsonTrees.object(job, "spec"), "template"), "spec");
    }

    // ---- what is there ----

    String of(String resource, String path) {
        return client.find(resource.replace("/", "/maintenance-"), path);
    }

    /** Returns status and reason of a condition. */
    String condition(String resource, String type) {
        String at = ".status.conditions[?(@.type==\"" + type + "\")].";
        return of(resource, at + "status") + " " + of(resource, at + "reason");
    }

    String message(String resource, String type) {
        return of(resource, ".status.conditions[?(@.type==\"" + type + "\")].message");
    }

    /** Returns true if the resource has ended, and nothing of it is left on the node. */
    boolean over(String resource, String node) {
        play(node);
        return !of(resource, ".status.completionTime").isEmpty()
                && of(resource, ".metadata.finalizers").isEmpty()
                && client.find("lease/locks/" + node).isEmpty();
    }

    /** Returns true if the resource has ended or is gone, and the node has no lock. Does its part before. */
    boolean isFree(String kind, String node) {
        play(node);
        String resource = kind + "/" + node;
        boolean gone = client.find(resource.replace("/", "/maintenance-")).isEmpty();
        return client.find("lease/locks/" + node).isEmpty()
                && (gone || !of(resource, ".status.completionTime").isEmpty());
    }

    void remove() {
        for (String kind : List.of("gpuresets", "rebootnodes", "terminatenodes")) {
            client.delete(kind);
        }
        client.delete(JOBS + "?propagationPolicy=Background");
        client.delete("leases/locks");
        client.deleteNow("pods/gpu-operator");
        client.deleteNow("pods/gpuwarden");
    }
}
