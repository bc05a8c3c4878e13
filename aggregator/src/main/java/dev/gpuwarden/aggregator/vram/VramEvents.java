package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.lang.System.Logger.Level;
import java.time.Clock;
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

    /** Records something about a Node. */
    void node(Map<String, Object> node, String reason, String text) throws InterruptedException {
        String name = JsonTrees.text(JsonTrees.object(node, "metadata"), "name");
        var unused = create(
                "default", event(name, clock.millis() * 1000 + 1, reason, text).body(name, COMPONENT));
    }

    /** Records the action on a pod. */
    void pod(Map<String, Object> pod, String node, String reason, String text) throws InterruptedException {
        Map<String, Object> metadata = JsonTrees.object(pod, "metadata");
        String namespace = JsonTrees.text(metadata, "namespace");
        String name = JsonTrees.text(metadata, "name");
        EventObject event = event(name, clock.millis() * 1000, reason, text);
        var unused = create(
                namespace, event.body(reference(namespace, name, JsonTrees.text(metadata, "uid")), node, COMPONENT));
    }

    /**
     * Records why a pod waits, once for each number: another replica with the same number writes the same object.
     *
     * @return the outcome: `written`, `written_before`, or `failed`
     */
    String waiting(WaitingPod pod, String reason, String text, long number) throws InterruptedException {
        // The UID is part of the name: a later pod of the same name has Events of its own.
        long name = ((long) pod.uid().hashCode() & 0xffff_ffffL) << 20 | number & 0xf_ffffL;
        EventObject event = event(pod.name(), name, reason, text);
        return create(pod.namespace(), event.body(reference(pod.namespace(), pod.name(), pod.uid()), "", COMPONENT));
    }

    private EventObject event(String object, long number, String reason, String text) {
        return EventObject.warning(
                EventObject.name(object, number), reason, Text.truncate(text, LONGEST), clock.instant());
    }

    private static Map<String, String> reference(String namespace, String pod, String uid) {
        return Map.of("apiVersion", "v1", "kind", "Pod", "namespace", namespace, "name", pod, "uid", uid);
    }

    /** Returns the outcome. */
    private String create(String namespace, Map<String, Object> body) throws InterruptedException {
        try {
            var unused = api.create("/api/v1/namespaces/" + namespace + "/events", body);
            failureLogged.set(false);
            return "written";
        } catch (ApiException e) {
            if (e.alreadyThere()) {
                return "written_before";
            }
            // Nodes decide how often this happens.
            if (failureLogged.compareAndSet(false, true)) {
                LOG.log(Level.WARNING, "an Event about VRAM cannot be written: " + e.getMessage());
            }
            return "failed";
        }
    }
}
