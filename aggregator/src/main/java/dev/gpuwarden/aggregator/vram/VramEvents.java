package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.util.Text;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** Writes Kubernetes Events about VRAM. An Event that cannot be written is logged, and stops nothing. Blocks. Thread-safe. */
final class VramEvents {

    private static final System.Logger LOG = System.getLogger(VramEvents.class.getName());

    private static final String COMPONENT = "gpuwarden-aggregator";
    private static final int LONGEST = 1024;

    private final KubeClient api;
    private final Clock clock;
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    VramEvents(KubeClient api, Clock clock) {
        this.api = api;
        this.clock = clock;
    }

    /** Records why the resource of a Node is not written. */
    void advertiseRefused(Map<String, Object> node, String text) throws InterruptedException {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        String name = JsonTrees.text(JsonTrees.object(node, "metadata"), "name");
        EventObject event = new EventObject(
                EventObject.name(name, clock.millis() * 1000 + 1),
                "Warning",
                "VramNotAdvertised",
                Text.truncate(text, LONGEST),
                1,
                false,
                now,
                now);
        create("default", event.body(name, COMPONENT));
    }

    /** Records the action on a pod. */
    void pod(Map<String, Object> pod, String node, String reason, String text) throws InterruptedException {
        Map<String, Object> metadata = JsonTrees.object(pod, "metadata");
        String namespace = JsonTrees.text(metadata, "namespace");
        String name = JsonTrees.text(metadata, "name");
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", "v1");
        body.put("kind", "Event");
        body.put("metadata", Map.of("name", EventObject.name(name, clock.millis() * 1000), "namespace", namespace));
        body.put(
                "involvedObject",
                Map.of(
                        "apiVersion",
                        "v1",
                        "kind",
                        "Pod",
                        "namespace",
                        namespace,
                        "name",
                        name,
                        "uid",
                        JsonTrees.text(metadata, "uid")));
        body.put("type", "Warning");
        body.put("reason", reason);
        body.put("message", Text.truncate(text, LONGEST));
        body.put("source", Map.of("component", COMPONENT, "host", node));
        body.put("reportingComponent", COMPONENT);
        body.put("reportingInstance", node);
        body.put("firstTimestamp", now);
        body.put("lastTimestamp", now);
        body.put("count", 1);
        create(namespace, body);
    }

    private void create(String namespace, Map<String, Object> body) throws InterruptedException {
        try {
            var unused = api.create("/api/v1/namespaces/" + namespace + "/events", body);
            failureLogged.set(false);
        } catch (ApiException e) {
            // Nodes decide how often this happens.
            if (failureLogged.compareAndSet(false, true)) {
                LOG.log(Level.WARNING, "an Event about VRAM cannot be written: " + e.getMessage());
            }
        }
    }
}
