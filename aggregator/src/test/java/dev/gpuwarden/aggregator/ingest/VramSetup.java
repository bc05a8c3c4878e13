package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.vram.VramBudgets;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.BudgetedPods;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.VramAnswer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** An aggregator that serves VRAM budgets with the shipped rights, a node's stream, and pods on Nodes that are objects only. */
abstract class VramSetup extends IngestSetup {

    static final String RESOURCE = VramCodec.RESOURCE;

    NodeCache cache;
    VramBudgets vram;
    VramBudgets.Times times = VramBudgets.Times.DEFAULT;
    IngestServer server;
    TestUplink uplink;
    /** Lists of pods that arrived while a test waited for an answer. */
    final List<BudgetedPods> lists = new ArrayList<>();

    private int number;

    void start(ActionMode mode, boolean advertises, boolean deletes) throws Exception {
        start(api(), settings(mode, advertises, deletes));
    }

    static VramSettings settings(ActionMode mode, boolean advertises, boolean deletes, String... nodes) {
        return new VramSettings(
                RESOURCE,
                advertises,
                mode,
                deletes,
                true,
                Stream.of(nodes).map(NodeSelector::parse).toList(),
                "gpuwarden");
    }

    void start(KubeClient api, VramSettings settings) throws Exception {
        cache = new NodeCache(Clock.systemUTC());
        vram = parts.add(VramBudgets.start(api, cache, settings, Clock.systemUTC(), times));
        server = aggregator(api, "a", cache, vram.nodes());
        parts.add(api.informer(NodeCache.NODES, cache.nodes()));
        until(() -> cache.node(node).isPresent(), "the aggregator knows the node");
        uplink = join(node);
    }

    /** Connects as a node. */
    TestUplink join(String name) throws Exception {
        TestUplink joined =
                parts.add(connect(server, TestCluster.token(plane, name)).hello(name, true, RESOURCE));
        assertThat(joined.receive().getWelcome().getVramResource()).isEqualTo(RESOURCE);
        return joined;
    }

    // ---- messages ----

    /** Advertises, and returns the first answer. */
    VramAnswer advertise(OptionalLong mib) throws Exception {
        return advertise(mib, OptionalLong.empty());
    }

    VramAnswer advertise(OptionalLong mib, OptionalLong card) throws Exception {
        String id = "a-" + ++number;
        uplink.send(VramCodec.advertise(id, mib, card));
        return answer(id);
    }

    /** Requests the end of a pod by the name and the UID that it has now. */
    VramAnswer evict(String namespace, String pod, Removal removal) throws Exception {
        return evict(namespace, pod, uid(namespace, pod), removal);
    }

    VramAnswer evict(String namespace, String pod, String uid, Removal removal) throws Exception {
        String id = "e-" + ++number;
        uplink.send(VramCodec.evict(id, uid, namespace, pod, "over its budget", Duration.ofSeconds(5), removal));
        return answer(id);
    }

    private VramAnswer answer(String id) throws Exception {
        while (true) {
            Acknowledgement next = uplink.receive();
            if (next.hasBudgetedPods()) {
                lists.add(next.getBudgetedPods());
            } else if (next.getVramAnswer().getId().equals(id)) {
                return next.getVramAnswer();
            }
        }
    }

    /** Returns the next list of pods that arrived, or arrives now. */
    BudgetedPods list() throws Exception {
        while (lists.isEmpty()) {
            Acknowledgement next = uplink.receive();
            if (next.hasBudgetedPods()) {
                lists.add(next.getBudgetedPods());
            }
        }
        return lists.remove(0);
    }

    // ---- the cluster ----

    /** Returns the value in status.capacity; empty if there is none. */
    String capacity(String name) {
        return plane.client().find("node/" + name, ".status.capacity.gpuwarden\\.dev/vram-mib");
    }

    void setCapacity(String value) {
        plane.client()
                .patch(
                        "node/" + node + "/status",
                        "{\"status\": {\"capacity\": {\"" + RESOURCE + "\": " + value + "}}}");
    }

    void namespace(String name) {
        plane.client().apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: %1$s}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %1$s}}
                """.formatted(name));
    }

    /** Creates a running pod with a budget. */
    void run(String namespace, String name, String on, String mib) {
        plane.client().apply("""
                {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s, labels: {app: %s}}, spec: {nodeName: %s,
                containers: [{name: main, image: none, resources: {limits: {%s: "%s"}}}]}}
                """.formatted(name, namespace, name, on, RESOURCE, mib));
        plane.client()
                .patch(
                        "pod/" + namespace + "/" + name + "/status",
                        "{\"status\": {\"phase\": \"Running\", \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}");
    }

    String uid(String namespace, String pod) {
        return plane.client().find("pod/" + namespace + "/" + pod, ".metadata.uid");
    }

    boolean leaves(String namespace, String pod) {
        return !plane.client()
                .find("pod/" + namespace + "/" + pod, ".metadata.deletionTimestamp")
                .isEmpty();
    }
}
