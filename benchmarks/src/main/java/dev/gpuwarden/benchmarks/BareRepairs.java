package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.Unchecked;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A client that makes the writes of a repair and nothing else: kinds, number, order and size are those of the aggregator. It reads
 * nothing, and has no precondition, decision or queue of its own.
 */
final class BareRepairs implements AutoCloseable {

    private static final String NODES = "/api/v1/nodes/";
    private static final String EVENTS = "/api/v1/namespaces/default/events";
    private static final String HEALTHS = "/apis/gpuwarden.dev/v1alpha1/nodehealths/";
    private static final String REBOOTS = "/apis/janitor.dgxc.nvidia.com/v1alpha1/rebootnodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/gpuwarden/leases";
    private static final String JOBS = "/apis/batch/v1/namespaces/gpuwarden/jobs";
    /** The size of the annotations of a quarantine, a drain and a repair. */
    private static final String ANNOTATION = "x".repeat(600);

    private static final String MESSAGE = "y".repeat(150);

    // Capitals stand for the texts of one write.
    private static final Map<String, Object> REBOOT = template("""
            {"apiVersion": "janitor.dgxc.nvidia.com/v1alpha1", "kind": "RebootNode", "metadata": {"name": "NODE"},
             "spec": {"nodeName": "NODE", "force": false}}""");
    private static final Map<String, Object> JOB = template("""
            {"metadata": {"name": "NODE"},
             "spec": {"suspend": true, "backoffLimit": 0, "template": {"spec": {"nodeName": "NODE", "restartPolicy": "Never",
              "containers": [{"name": "action", "image": "load", "command": ["ANNOTATION"]}]}}}}""");
    private static final Map<String, Object> CONDITION = template("""
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "NODE"},
             "status": {"conditions": [{"type": "Bare", "status": "STATUS", "reason": "Load", "message": "MESSAGE",
              "lastTransitionTime": "NOW"}]}}""");
    private static final Map<String, Object> EVENT = template("""
            {"metadata": {"name": "NODE.WHAT", "namespace": "default"},
             "involvedObject": {"kind": "Node", "name": "NODE", "apiVersion": "v1"},
             "reason": "WHAT", "message": "MESSAGE", "type": "Normal"}""");
    private static final Map<String, Object> STATUS = template("""
            {"status": {"phase": "PHASE", "TIME": "NOW", "conditions": [{"type": "SignalSent", "status": "True",
             "reason": "PHASE", "message": "MESSAGE", "lastTransitionTime": "NOW"}]}}""");

    private final KubeClient api;
    private final Set<String> nodes = ConcurrentHashMap.newKeySet();
    private final ExecutorService threads = Executors.newFixedThreadPool(LoadCluster.WRITERS);

    BareRepairs(LoadCluster cluster) {
        this.api = cluster.api;
    }

    /** Begins the repair of these nodes at the same time. */
    void begin(List<String> faulty) {
        nodes.addAll(faulty);
        faulty.forEach(node -> threads.execute(() -> write(node, this::reboot)));
    }

    /** Continues the repair after the reboot. Returns false for a node of the aggregator's. */
    boolean booted(String node) {
        if (!nodes.contains(node)) {
            return false;
        }
        threads.execute(() -> write(node, this::returned));
        return true;
    }

    private interface Writes {
        void of(String node) throws ApiException, InterruptedException;
    }

    private static void write(String node, Writes writes) {
        try {
            writes.of(node);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ApiException e) {
            throw new IllegalStateException(node, e);
        }
    }

    private void reboot(String node) throws ApiException, InterruptedException {
        reported(node);
        spec(node, "quarantine", true);
        condition(node, "True");
        event(node, "quarantined");
        annotate(node, "drain");
        annotate(node, "repair");
        event(node, "started");
        String resource = create(REBOOTS, filled(REBOOT, "NODE", node));
        merge(resource, "metadata", Map.of("finalizers", List.of("load.example/bare")));
        String unused = create(LEASES, Map.of("metadata", Map.of("name", node)));
        status(node, "InProgress");
        String job = create(JOBS, filled(JOB, "NODE", node));
        status(node, "InProgress");
        merge(job, "spec", Map.of("suspend", false));
    }

    private void returned(String node) throws ApiException, InterruptedException {
        reported(node);
        status(node, "Succeeded");
        api.delete(LEASES + "/" + node);
        merge(REBOOTS + "/" + node, "metadata", Map.of("finalizers", List.of()));
        annotate(node, "result");
        event(node, "succeeded");
        spec(node, "released", false);
        condition(node, "False");
        event(node, "released");
    }

    private String create(String path, Map<String, Object> object) throws ApiException, InterruptedException {
        var unused = api.create(path, object);
        return path + "/" + JsonTrees.text(JsonTrees.object(object, "metadata"), "name");
    }

    private static Map<String, Object> template(String json) {
        return Unchecked.get(
                () -> Json.readObject(json.replace("ANNOTATION", ANNOTATION).replace("MESSAGE", MESSAGE)));
    }

    /** @param words each word of the template's texts and names, before the text in its place */
    private static Map<String, Object> filled(Map<?, ?> template, String... words) {
        Map<String, Object> filled = new LinkedHashMap<>();
        template.forEach((name, value) -> filled.put((String) any(name, words), any(value, words)));
        return filled;
    }

    private static Object any(Object value, String... words) {
        if (value instanceof Map<?, ?> map) {
            return filled(map, words);
        }
        if (value instanceof List<?> list) {
            return list.stream().map(each -> any(each, words)).toList();
        }
        Object filled = value;
        for (int i = 0; filled instanceof String text && i < words.length; i += 2) {
            filled = text.replace(words[i], words[i + 1]);
        }
        return filled;
    }

    private void merge(String path, String field, Object value) throws ApiException, InterruptedException {
        var unused = api.merge(path, Map.of(field, value));
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private void reported(String node) throws ApiException, InterruptedException {
        merge(HEALTHS + node + "/status", "status", Map.of("reported", now()));
    }

    private void spec(String node, String key, boolean cordon) throws ApiException, InterruptedException {
        var unused = api.merge(
                NODES + node,
                Map.of(
                        "metadata", Map.of("annotations", Map.of("load.example/" + key, ANNOTATION)),
                        "spec", Map.of("unschedulable", cordon)));
    }

    private void annotate(String node, String key) throws ApiException, InterruptedException {
        merge(NODES + node, "metadata", Map.of("annotations", Map.of("load.example/" + key, ANNOTATION)));
    }

    private void condition(String node, String status) throws ApiException, InterruptedException {
        var unused = api.apply(
                NODES + node + "/status", "bare", filled(CONDITION, "NODE", node, "STATUS", status, "NOW", now()));
    }

    private void event(String node, String what) throws ApiException, InterruptedException {
        String unused = create(EVENTS, filled(EVENT, "NODE", node, "WHAT", what));
    }

    /** An end without a time would leave the resource in progress for the aggregator, which would read it again and again. */
    private void status(String node, String phase) throws ApiException, InterruptedException {
        String time = phase.equals("Succeeded") ? "completionTime" : "startTime";
        var unused =
                api.merge(REBOOTS + "/" + node + "/status", filled(STATUS, "PHASE", phase, "TIME", time, "NOW", now()));
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
