package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.api.kube.PodRemoval;
import dev.gpuwarden.cli.JsonReader;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The requests of other parts of the daemon with its own account: they read and write this node's Node, follow its pods and end one.
 * Requests block, within a bound, and end when interrupted. An {@link IOException} has a message for users. Thread-safe.
 */
public final class NodeApi {

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int TOO_MANY = 429;
    private static final JsonReader WHOLE = JsonReader.ofDepth(JsonReader.DEEPEST);
    /** Most of a Node. */
    private static final Set<String> NODE_SKIPPED = Set.of("images", "conditions", "nodeInfo");
    /** Most of a pod, and texts that may be secret. */
    private static final Set<String> POD_SKIPPED =
            Set.of("managedFields", "env", "envFrom", "volumes", "volumeMounts", "command", "args", "conditions");

    private static final JsonReader POD = JsonReader.ofDepth(JsonReader.DEEPEST).without(POD_SKIPPED);

    private final KubernetesNode node;
    private final KubeClient client;

    NodeApi(KubernetesNode node) {
        this.node = node;
        this.client = node.client;
    }

    /** The end of a request to end a pod. */
    public enum Ended {
        /** It ends now. */
        DELETED,
        /** It had ended before. */
        GONE,
        /** It stays. */
        REFUSED
    }

    /** @param text for users */
    public record Answer(Ended ended, String text) {}

    /** Returns the name of this node's Node. */
    public String name() {
        return node.name;
    }

    /** Returns true if the API server checks writes, and stores none. */
    public boolean isDryRun() {
        return node.dryRun;
    }

    /** Returns the whole Node. */
    public Map<?, ?> node() throws IOException, InterruptedException {
        return client.ask(ApiRequest.read(node.name), WHOLE);
    }

    /** Applies these fields to the Node's status, and returns the whole Node. */
    public Map<?, ?> applyStatus(String manager, Map<String, Object> body) throws IOException, InterruptedException {
        return client.ask(ApiRequest.status(node.name, manager, body), WHOLE);
    }

    /** Records that status.capacity needs no write, whatever failed before. */
    public void capacityIsRight() {
        node.counters.settled(EnumSet.of(ApiRequest.Kind.capacity));
    }

    /** Follows this node's Node. */
    public KubeWatch watchNode(KubeWatch.Listener listener, Duration silence) {
        String self = "metadata.name%3D" + node.name;
        return watch(ApiRequest.Kind.read, ApiRequest.ALL_NODES, self, NODE_SKIPPED, listener, silence);
    }

    /** Follows the pods on this node. */
    public KubeWatch watchPods(KubeWatch.Listener listener, Duration silence) {
        String here = "spec.nodeName%3D" + node.name;
        return watch(ApiRequest.Kind.pods, "/api/v1/pods", here, POD_SKIPPED, listener, silence);
    }

    private KubeWatch watch(
            ApiRequest.Kind kind,
            String path,
            String selector,
            Set<String> skipped,
            KubeWatch.Listener listener,
            Duration silence) {
        return new KubeWatch(client, new KubeWatch.Selection(kind, path, selector, skipped), listener, silence);
    }

    /** Returns the pod that has this name now; empty if there is none. */
    public Optional<Map<?, ?>> pod(String namespace, String name) throws IOException, InterruptedException {
        try {
            String path = ApiRequest.pod(namespace, name);
            return Optional.of(client.ask(ApiRequest.get(ApiRequest.Kind.removals, path), POD));
        } catch (KubeException e) {
            if (e.status() == NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Ends a pod, if its PodDisruptionBudget would permit its eviction. The budget is asked by an eviction that changes nothing:
     * an admission policy can hold a deletion to the pods of one node, and cannot hold an eviction to them.
     */
    public Answer end(PodFacts pod, Duration grace) throws InterruptedException {
        Optional<Duration> given = Optional.of(grace);
        try {
            var unused = client.ask(
                    ApiRequest.evictionAsDryRun(
                            pod.namespace(),
                            pod.name(),
                            PodRemoval.eviction(pod.namespace(), pod.name(), pod.uid(), given, true)),
                    WHOLE);
            var unusedToo = client.ask(
                    ApiRequest.deletion(pod.namespace(), pod.name(), PodRemoval.deletion(pod.uid(), given, false)),
                    WHOLE);
            return node.dryRun
                    ? new Answer(Ended.REFUSED, "the API server would delete it (--kubernetes.dry-run)")
                    : new Answer(Ended.DELETED, "the pod " + pod.path() + " is deleted");
        } catch (KubeException e) {
            boolean another = e.status() == CONFLICT && e.answer().contains("UID");
            if (e.status() == NOT_FOUND || another) {
                return new Answer(Ended.GONE, "the pod has ended already");
            }
            Optional<String> budget = e.status() == TOO_MANY ? e.budget() : Optional.empty();
            return new Answer(Ended.REFUSED, budget.orElse(String.valueOf(e.getMessage())));
        }
    }

    /** Writes an Event of this node's Node, if Events are among those that the daemon writes. */
    public void event(EventObject event) throws IOException, InterruptedException {
        if (node.parts.contains(KubernetesOptions.Part.events)) {
            var unused = client.ask(ApiRequest.event(event.body(node.name, ApiRequest.MANAGER)));
        }
    }
}
