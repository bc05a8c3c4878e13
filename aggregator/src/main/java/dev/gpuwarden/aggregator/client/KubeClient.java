package dev.gpuwarden.aggregator.client;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.GZIPInputStream;

/**
 * A client of the API server that writes its request bodies by hand. A typed model would also write fields, and so own them,
 * without intent. Each call blocks until the answer arrives or the timeout ends. Thread-safe.
 */
public final class KubeClient implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final String JSON = "application/json";
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String PATCH = "application/json-patch+json";
    private static final String MERGE = "application/merge-patch+json";
    private static final int CONNECT_MILLIS = 5_000;
    private static final int LONGEST_REASON = 300;

    /**
     * The logger of a warning at each start about kinds of an alpha version. This program's own kinds have no other version.
     * The constant keeps the logger, because the JDK drops the level of a logger without a reference.
     */
    private static final Logger OWN_VERSIONS =
            Logger.getLogger("io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils");

    private final KubernetesClient client;
    private final KubernetesSerialization json;
    private final String root;
    private final Duration patience;
    private final ServerClock clock;

    private KubeClient(KubernetesClient client, Duration patience, Clock own) {
        this.client = client;
        this.patience = patience;
        this.clock = new ServerClock(own);
        this.json = client.getKubernetesSerialization();
        this.root = client.getMasterUrl().toString().replaceAll("/+$", "");
    }

    /** Returns a client without any request, so the program also starts while the server is away. */
    public static KubeClient connect(Config config) {
        return connect(config, PATIENCE, Clock.systemUTC());
    }

    /**
     * Returns a client like {@link #connect(Config)}.
     *
     * @param patience timeout of each request
     * @param own clock of this machine, which may be wrong
     */
    public static KubeClient connect(Config config, Duration patience, Clock own) {
        OWN_VERSIONS.setLevel(Level.SEVERE);
        ClientKey.algorithm(config).ifPresent(config::setClientKeyAlgo);
        config.setConnectionTimeout(CONNECT_MILLIS);
        config.setRequestTimeout((int) patience.toMillis());
        // The caller has its own back-off, and can decide by then if it still needs the answer.
        config.setRequestRetryBackoffLimit(0);
        // All objects are trees here, also those for which the client has classes.
        KubernetesSerialization trees = new KubernetesSerialization(new ObjectMapper(), false);
        // Except for this one: an informer lists again only if it understands the 410 in a watch.
        trees.registerKubernetesResource("v1", "Status", Status.class);
        return new KubeClient(
                new KubernetesClientBuilder()
                        .withConfig(config)
                        .withKubernetesSerialization(trees)
                        .build(),
                patience,
                own);
    }

    /** Returns the clock of the API server, from its answers to this client so far; this machine's before the first. */
    public Clock clock() {
        return clock;
    }

    /** @throws ApiException also if the object does not exist */
    public Map<String, Object> get(String path) throws ApiException, InterruptedException {
        return send("GET", path, JSON, "");
    }

    /** Reads an object like {@link #get}; empty if it does not exist. */
    public Optional<Map<String, Object>> find(String path) throws ApiException, InterruptedException {
        try {
            return Optional.of(get(path));
        } catch (ApiException e) {
            if (e.notFound()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    public Map<String, Object> create(String path, Map<String, Object> body) throws ApiException, InterruptedException {
        return send("POST", path, JSON, json.asJson(body));
    }

    /**
     * Returns the status of a review of authentication or authorization.
     *
     * @param kind for example `TokenReview`
     */
    public Map<String, Object> review(String group, String kind, Map<String, ?> spec)
            throws ApiException, InterruptedException {
        Map<String, Object> review = create(
                "/apis/" + group + "/v1/" + kind.toLowerCase(Locale.ROOT) + "s",
                Map.of("apiVersion", group + "/v1", "kind", kind, "spec", spec));
        return JsonTrees.object(review, "status");
    }

    /** Applies an object by server-side apply, and takes its fields over from other managers. */
    public Map<String, Object> apply(String path, String fieldManager, Map<String, Object> body)
            throws ApiException, InterruptedException {
        return send("PATCH", path + "?fieldManager=" + fieldManager + "&force=true", APPLY, json.asJson(body));
    }

    /** Sends a JSON patch, RFC 6902. A patch whose test fails ends with {@link ApiException#invalid}. */
    public Map<String, Object> patch(String path, List<Map<String, Object>> operations)
            throws ApiException, InterruptedException {
        return send("PATCH", path, PATCH, asServer(json.asJson(operations)));
    }

    /** Sends a JSON merge patch, RFC 7386. Unlike an apply, it does not create a missing object. */
    public Map<String, Object> merge(String path, Map<String, Object> body) throws ApiException, InterruptedException {
        return send("PATCH", path, MERGE, json.asJson(body));
    }

    /** Escapes characters like the API server. Its patch tests compare bytes with its own output. */
    private static String asServer(String text) {
        return text.replace("<", "\\u003c")
                .replace(">", "\\u003e")
                .replace("&", "\\u0026")
                .replace("\u2028", "\\u2028")
                .replace("\u2029", "\\u2029");
    }

    /** Replaces an object. With a resourceVersion in the body, the server refuses if the object has another version. */
    public Map<String, Object> replace(String path, Map<String, Object> body)
            throws ApiException, InterruptedException {
        return send("PUT", path, JSON, json.asJson(body));
    }

    public void delete(String path) throws ApiException, InterruptedException {
        var unused = send("DELETE", path, JSON, "");
    }

    /** @param options for example `preconditions` and `gracePeriodSeconds` */
    public void delete(String path, Map<String, Object> options) throws ApiException, InterruptedException {
        var unused = send("DELETE", path, JSON, json.asJson(options));
    }

    /**
     * Follows the objects with these field values, for example {@code spec.nodeName} of Pods, by a list and a watch of their
     * own.
     */
    public ResourceInformer informer(
            ResourceKind kind, Map<String, String> fields, ResourceInformer.Listener listener, Runnable synced) {
        return ResourceInformer.open(client, kind, fields, listener, synced);
    }

    /**
     * Follows all objects of a kind from now on until it is closed. Does not block.
     *
     * @param synced called after each list, when the listener has received all of its objects
     */
    public ResourceInformer informer(ResourceKind kind, ResourceInformer.Listener listener, Runnable synced) {
        return ResourceInformer.open(client, kind, Map.of(), listener, synced);
    }

    /** Like {@link #informer(ResourceKind, ResourceInformer.Listener, Runnable)}, without a call after a list. */
    public ResourceInformer informer(ResourceKind kind, ResourceInformer.Listener listener) {
        return informer(kind, listener, () -> {});
    }

    /**
     * Joins the leader election of this Lease until the elector is closed. Does not block.
     *
     * @param identity name of this candidate; each candidate has its own
     * @param begin called when this candidate becomes the leader; must not block
     * @param end called when its leadership ends
     */
    public LeaderElector seekLeadership(
            String namespace, String lease, String identity, LeaderElector.Times times, Runnable begin, Runnable end) {
        return LeaderElector.seek(client.getConfiguration(), namespace, lease, identity, times, begin, end);
    }

    private Map<String, Object> send(String method, String path, String type, String body)
            throws ApiException, InterruptedException {
        HttpRequest.Builder request = client.getHttpClient()
                .newHttpRequestBuilder()
                .uri(root + path)
                .header("Accept-Encoding", "gzip")
                .timeout(patience.toMillis(), TimeUnit.MILLISECONDS);
        HttpRequest ready = method.equals("GET")
                ? request.build()
                : request.method(method, type, body).build();
        String what = method + " " + path;
        Instant sent = clock.own();
        CompletableFuture<HttpResponse<byte[]>> answer = client.getHttpClient().sendAsync(ready, byte[].class);
        try {
            HttpResponse<byte[]> received = answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            clock.answered(sent, received.header("Date"));
            return read(what, received);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw ApiException.noAnswer(what + ": no answer within " + patience.toSeconds() + " s");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw ApiException.noAnswer(what + ": no answer from " + root + ": " + cause);
        }
    }

    private Map<String, Object> read(String what, HttpResponse<byte[]> answer) throws ApiException {
        Map<String, Object> tree = tree(answer);
        if (answer.isSuccessful()) {
            return tree;
        }
        String reason = String.valueOf(tree.getOrDefault("message", "without a reason"));
        String cut = Text.truncate(reason, LONGEST_REASON);
        throw new ApiException(
                answer.code(),
                JsonTrees.text(tree, "reason"),
                retryAfterSeconds(answer),
                what + ": answer " + answer.code() + ": " + cut,
                cut,
                JsonTrees.objects(JsonTrees.object(tree, "details"), "causes").stream()
                        .map(cause -> new ApiException.Cause(
                                JsonTrees.text(cause, "reason"),
                                Text.truncate(JsonTrees.text(cause, "message"), LONGEST_REASON)))
                        .toList());
    }

    private static long retryAfterSeconds(HttpResponse<byte[]> answer) {
        String seconds = answer.header("Retry-After");
        return seconds != null && seconds.matches("[0-9]{1,6}") ? Long.parseLong(seconds) : 0;
    }

    /** Returns the answer; empty if it is no JSON object. A proxy before the server can answer with any body. */
    private static Map<String, Object> tree(HttpResponse<byte[]> answer) {
        byte[] body = answer.body();
        try {
            return Json.readObject(packed(answer) ? unpacked(body) : body);
        } catch (IOException e) {
            return Map.of();
        }
    }

    /** Returns true if the body is compressed. Decryption of the full text would take longer than decompression. */
    private static boolean packed(HttpResponse<byte[]> answer) {
        return "gzip".equals(answer.header("Content-Encoding"));
    }

    private static byte[] unpacked(byte[] body) throws IOException {
        try (GZIPInputStream text = new GZIPInputStream(new ByteArrayInputStream(body))) {
            return text.readAllBytes();
        }
    }

    @Override
    public void close() {
        client.close();
    }

    /** A reader of lists in pages, because 10,000 nodes in one list are 100 MB of JSON. */
    public static final class Pages {

        private static final int PAGE = 500;

        private Pages() {}

        /**
         * Passes each object of a list to the consumer. Blocks; each page is one request.
         *
         * @param path without a query
         * @param query for example `fieldSelector=reason=DryRun`, with encoded values; empty for all
         * @throws ApiException also after some objects were passed
         */
        public static void each(KubeClient api, String path, String query, Consumer<Map<String, Object>> consumer)
                throws ApiException, InterruptedException {
            String from = "";
            do {
                Map<String, Object> page = api.get(path + "?limit=" + PAGE + (query.isEmpty() ? "" : "&" + query)
                        + (from.isEmpty() ? "" : "&continue=" + encoded(from)));
                if (!JsonTrees.text(page, "kind").endsWith("List")) {
                    throw ApiException.noAnswer("GET " + path + ": expected a list, found something else");
                }
                JsonTrees.objects(page, "items").forEach(consumer);
                from = JsonTrees.text(JsonTrees.object(page, "metadata"), "continue");
            } while (!from.isEmpty());
        }

        public static String encoded(String text) {
            return URLEncoder.encode(text, StandardCharsets.UTF_8);
        }
    }
}
