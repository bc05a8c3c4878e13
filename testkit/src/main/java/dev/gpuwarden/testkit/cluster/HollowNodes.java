package dev.gpuwarden.testkit.cluster;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Nodes that are objects and nothing else, for loads that no machine carries as real ones: as large as a kubelet writes them, with
 * eight H100 and a GPU's labels, Ready, and kept so by leases. Their pods, in a namespace of the same name as their prefix, are
 * objects too: bound, Running, and nobody runs them.
 *
 * <p>Thread-safe.
 */
public final class HollowNodes implements AutoCloseable {

    /** Controllers take a node for gone after 50 s without a renewal. */
    private static final int RENEWAL_SECONDS = 20;

    private static final System.Logger LOG = System.getLogger(HollowNodes.class.getName());
    private static final String NODES = "/api/v1/nodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String NAMESPACES = "/api/v1/namespaces";

    private final String prefix;
    private final int nodes;
    private final int podsPerNode;
    private final HollowObjects texts;
    private final ApiRequests api;

    private int turn;

    /** In a queue of their own: renewals must not wait behind a load. */
    private final ApiRequests renewals;

    private final ScheduledExecutorService renewer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "hollow-nodes-leases");
        thread.setDaemon(true);
        return thread;
    });

    private HollowNodes(ControlPlane plane, String prefix, int nodes, int podsPerNode) {
        this.prefix = prefix;
        this.nodes = nodes;
        this.podsPerNode = podsPerNode;
        this.texts = new HollowObjects(prefix);
        this.api = new ApiRequests(plane);
        this.renewals = new ApiRequests(plane);
    }

    /**
     * Blocks until all are there, as fast as the API server takes them.
     *
     * @param prefix of their names, and of nobody else's: `PREFIX-0`, `PREFIX-1`, …
     * @param podsPerNode how many pods each has: `PREFIX-0-0`, `PREFIX-0-1`, …
     * @throws IllegalStateException with the first request that failed
     */
    public static HollowNodes create(ControlPlane plane, String prefix, int nodes, int podsPerNode) {
        HollowNodes all = new HollowNodes(plane, prefix, nodes, podsPerNode);
        try {
            all.create();
            return all;
        } catch (RuntimeException | Error e) {
            all.close();
            throw e;
        }
    }

    /** The first at 0. */
    public List<String> names() {
        return IntStream.range(0, nodes).mapToObj(texts::name).toList();
    }

    private void create() {
        renewer.scheduleAtFixedRate(this::renew, 1, 1, TimeUnit.SECONDS);
        api.all(nodes, this::createNode);
        if (podsPerNode > 0) {
            api.post(NAMESPACES, "{\"metadata\": {\"name\": \"" + prefix + "\"}}")
                    .join();
            // A controller manager makes this one too, and may be first.
            api.post(NAMESPACES + "/" + prefix + "/serviceaccounts", "{\"metadata\": {\"name\": \"default\"}}")
                    .exceptionally(thereAlready -> null)
                    .join();
            api.all(nodes * podsPerNode, this::createPod);
        }
    }

    /** The API server gives every new node the taint of one that is not ready; without controllers nobody else takes it away. */
    private CompletableFuture<Void> createNode(int node) {
        return api.post(LEASES, texts.lease(node, Instant.now()))
                .thenCompose(done -> api.post(NODES, texts.node(node)))
                .thenCompose(done -> api.patch(NODES + "/" + texts.name(node), "{\"spec\": {\"taints\": null}}"));
    }

    private CompletableFuture<Void> createPod(int number) {
        int node = number / podsPerNode;
        String pod = pod(number);
        String path = NAMESPACES + "/" + prefix + "/pods";
        return api.post(path, texts.pod(node, pod))
                .thenCompose(done -> api.patch(path + "/" + pod + "/status", texts.podStatus(node)));
    }

    private String pod(int number) {
        return texts.name(number / podsPerNode) + "-" + number % podsPerNode;
    }

    /** Some of them each second, as kubelets do, which know nothing of each other. */
    private void renew() {
        int first = turn++ % RENEWAL_SECONDS;
        int some = (nodes - first + RENEWAL_SECONDS - 1) / RENEWAL_SECONDS;
        String now = texts.renewal(Instant.now());
        try {
            // One that is not made yet, or deleted by somebody, is none to renew.
            renewals.all(some, i -> {
                String node = texts.name(first + i * RENEWAL_SECONDS);
                return renewals.patchIfThere(LEASES + "/" + node, now);
            });
        } catch (IllegalStateException e) {
            LOG.log(System.Logger.Level.WARNING, "leases of " + prefix + "-*: " + e.getMessage());
        }
    }

    /** Leaves them to themselves: for who stops the API server next. */
    public void abandon() {
        renewer.shutdownNow();
    }

    /** Deletes all of them, as fast as the API server does. */
    @Override
    public void close() {
        abandon();
        if (podsPerNode > 0) {
            String path = NAMESPACES + "/" + prefix;
            api.all(nodes * podsPerNode, number -> api.delete(path + "/pods/" + pod(number) + "?gracePeriodSeconds=0"));
            api.delete(path).join();
        }
        api.all(
                nodes,
                node -> api.delete(NODES + "/" + texts.name(node))
                        .thenCompose(done -> api.delete(LEASES + "/" + texts.name(node))));
    }
}
