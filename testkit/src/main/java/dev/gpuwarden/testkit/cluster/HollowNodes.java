package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.Resource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Hollow nodes, for loads that no machine carries as real nodes: Node objects of the size that a kubelet writes, with eight H100 and
 * the labels of GPU nodes, kept Ready by leases. Their pods are objects too, bound and Running without containers, in a namespace
 * with the name of the prefix.
 *
 * <p>Thread-safe.
 */
public final class HollowNodes implements AutoCloseable {

    /** Interval of renewals: controllers mark a node as unknown after 50 s without one. */
    private static final int RENEWAL_SECONDS = 20;

    private static final System.Logger LOG = System.getLogger(HollowNodes.class.getName());
    private static final String NODES = "/api/v1/nodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String NAMESPACES = "/api/v1/namespaces";

    private final String prefix;
    private final int nodes;
    private final int podsPerNode;
    private final Objects texts;
    private final ApiRequests api;

    private int turn;

    /** A queue of its own: renewals must not wait behind a load. */
    private final ApiRequests renewals;

    private final ScheduledExecutorService renewer =
            Executors.newSingleThreadScheduledExecutor(Threads.daemon("hollow-nodes-leases"));

    private HollowNodes(ControlPlane plane, String prefix, int nodes, int podsPerNode) {
        this.prefix = prefix;
        this.nodes = nodes;
        this.podsPerNode = podsPerNode;
        this.texts = new Objects(prefix);
        this.api = new ApiRequests(plane);
        this.renewals = new ApiRequests(plane);
    }

    /**
     * Creates the objects as fast as the API server accepts them; blocks until all exist.
     *
     * @param prefix of their names, unique: `PREFIX-0`, `PREFIX-1`, …
     * @param podsPerNode pods of each node: `PREFIX-0-0`, `PREFIX-0-1`, …
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

    /** Returns the names in order of their numbers. */
    public List<String> names() {
        return IntStream.range(0, nodes).mapToObj(texts::name).toList();
    }

    /**
     * Restarts a node; does not wait. After this time its kubelet reports another boot id. The outage itself is not in the API, as that of
     * a real node that is away for less than controllers wait.
     *
     * @return completes with that report, or with the failure of its request
     */
    public CompletableFuture<Void> reboot(String node, Duration off) {
        String bootId = UUID.randomUUID().toString();
        return CompletableFuture.runAsync(
                        () -> {}, CompletableFuture.delayedExecutor(off.toMillis(), TimeUnit.MILLISECONDS))
                .thenCompose(done -> renewals.patch(
                        NODES + "/" + node + "/status",
                        "{\"status\": {\"nodeInfo\": {\"bootID\": \"" + bootId + "\"}}}"));
    }

    private void create() {
        renewer.scheduleAtFixedRate(this::renew, 1, 1, TimeUnit.SECONDS);
        api.all(nodes, this::createNode);
        if (podsPerNode > 0) {
            api.post(NAMESPACES, "{\"metadata\": {\"name\": \"" + prefix + "\"}}")
                    .join();
            // A controller manager creates this one too, and may be first.
            api.post(NAMESPACES + "/" + prefix + "/serviceaccounts", "{\"metadata\": {\"name\": \"default\"}}")
                    .exceptionally(thereAlready -> null)
                    .join();
            api.all(nodes * podsPerNode, this::createPod);
        }
    }

    /** Removes the taint not-ready, which the API server adds to new nodes and only controllers remove. */
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

    /** Renews a part of the leases each second: kubelets renew at independent times, too. */
    private void renew() {
        int first = turn++ % RENEWAL_SECONDS;
        int some = (nodes - first + RENEWAL_SECONDS - 1) / RENEWAL_SECONDS;
        String now = texts.renewal(Instant.now());
        try {
            // A node may not exist yet, or no longer.
            renewals.all(some, i -> {
                String node = texts.name(first + i * RENEWAL_SECONDS);
                return renewals.patchIfThere(LEASES + "/" + node, now);
            });
        } catch (IllegalStateException e) {
            LOG.log(System.Logger.Level.WARNING, "leases of " + prefix + "-*: " + e.getMessage());
        }
    }

    /** Stops the renewals and leaves the objects, for callers that stop the API server next. */
    public void abandon() {
        renewer.shutdownNow();
    }

    /** Deletes all objects; blocks until they are gone. */
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

    /** The JSON of the objects of {@link HollowNodes}. */
    static final class Objects {

        private final String prefix;
        private final String started =
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        private final String node = form("node");
        private final String lease = form("lease");
        private final String pod = form("pod");
        private final String podStatus = form("pod-status");

        Objects(String prefix) {
            this.prefix = prefix;
        }

        private static String form(String name) {
            return Resource.text("cluster/load/" + name + ".json").replaceAll("\n *", "");
        }

        String name(int node) {
            return prefix + "-" + node;
        }

        String node(int number) {
            return of(number, node)
                    .replace("@ZONE@", "zone-" + number % 3)
                    .replace("@UUID@", String.format(Locale.ROOT, "00000000-0000-4000-8000-%012x", number))
                    .replace("@MACHINE@", String.format(Locale.ROOT, "%032x", number));
        }

        String lease(int number, Instant now) {
            return lease.replace("@TIME@", MicroTime.of(now)).replace("@NAME@", name(number));
        }

        /** Returns the patch that renews any lease. */
        String renewal(Instant now) {
            return "{\"spec\": {\"renewTime\": \"" + MicroTime.of(now) + "\"}}";
        }

        String pod(int number, String name) {
            return of(number, pod).replace("@POD@", name);
        }

        String podStatus(int number) {
            return of(number, podStatus);
        }

        private String of(int number, String form) {
            return form.replace("@PREFIX@", prefix)
                    .replace("@NAME@", name(number))
                    .replace(
                            "@ADDRESS@",
                            "172." + (16 + number / 65_536 % 16) + "." + number / 256 % 256 + "." + number % 256)
                    .replace("@TIME@", started);
        }
    }

    /** Sends requests of the administrator to an API server, many at a time. Thread-safe. */
    static final class ApiRequests {

        /** An API server on two cores is not faster with more. */
        private static final int AT_A_TIME = 64;

        private static final Duration LIMIT = Duration.ofMinutes(2);
        private static final int NOT_FOUND = 404;

        private final String url;
        private final HttpClient client;
        private final Semaphore free = new Semaphore(AT_A_TIME);

        ApiRequests(ControlPlane plane) {
            this.url = plane.url();
            this.client = HttpClient.newBuilder()
                    .sslContext(ClientTls.context(plane, true))
                    .build();
        }

        CompletableFuture<Void> post(String path, String json) {
            return send(
                    request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)),
                    false);
        }

        CompletableFuture<Void> patch(String path, String json) {
            return send(patching(path, json), false);
        }

        /** Succeeds where the object does not exist. */
        CompletableFuture<Void> patchIfThere(String path, String json) {
            return send(patching(path, json), true);
        }

        private HttpRequest.Builder patching(String path, String json) {
            return request(path)
                    .header("Content-Type", "application/merge-patch+json")
                    .method("PATCH", BodyPublishers.ofString(json));
        }

        /** Succeeds where the object does not exist. */
        CompletableFuture<Void> delete(String path) {
            return send(request(path).DELETE(), true);
        }

        private HttpRequest.Builder request(String path) {
            return HttpRequest.newBuilder(URI.create(url + path)).timeout(LIMIT);
        }

        private CompletableFuture<Void> send(HttpRequest.Builder builder, boolean orNothing) {
            HttpRequest request = builder.build();
            return client.sendAsync(request, BodyHandlers.ofString()).thenAccept(response -> {
                int code = response.statusCode();
                if (code / 100 != 2 && !(orNothing && code == NOT_FOUND)) {
                    throw new IllegalStateException(request.method() + " "
                            + request.uri().getPath() + ": answered " + code + ": " + response.body());
                }
            });
        }

        /**
         * Runs a request for each number below the count; blocks until all are done.
         *
         * @throws IllegalStateException with the first failure, after which no request is started
         */
        void all(int count, IntFunction<CompletableFuture<Void>> work) {
            AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
            int begun = 0;
            try {
                while (begun < count && failure.get() == null) {
                    free.acquire();
                    work.apply(begun).whenComplete((done, error) -> {
                        if (error != null) {
                            failure.compareAndSet(null, error);
                        }
                        free.release();
                    });
                    begun++;
                }
                free.acquire(AT_A_TIME);
                free.release(AT_A_TIME);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted after " + begun + " of " + count + " requests", e);
            }
            Throwable first = failure.get();
            if (first != null) {
                Throwable cause =
                        first instanceof CompletionException && first.getCause() != null ? first.getCause() : first;
                throw new IllegalStateException(String.valueOf(cause.getMessage()), cause);
            }
        }
    }
}
