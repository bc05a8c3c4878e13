package dev.gpuwarden.aggregator.client;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gpuwarden.core.util.PrivateKeys;
import dev.gpuwarden.core.util.Text;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
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
 * Requests to the API server, with bodies written by hand: a model of a whole object writes fields that nobody meant to own.
 * Each call blocks until the answer is here, or until the client's patience ends. Thread-safe.
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
     * Warns at each start of kinds whose version is an alpha: of this program's own kinds, which have no other version. Held, since
     * the JDK forgets the level of a logger that is not.
     */
    private static final Logger OWN_VERSIONS =
            Logger.getLogger("io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils");

    private final KubernetesClient client;
    private final KubernetesSerialization json;
    private final String root;
    private final Duration patience;

    private KubeClient(KubernetesClient client, Duration patience) {
        this.client = client;
        this.patience = patience;
        this.json = client.getKubernetesSerialization();
        this.root = client.getMasterUrl().toString().replaceAll("/+$", "");
    }

    /** Asks nothing yet, so a server that is away does not keep the program from starting. */
    public static KubeClient connect(Config config) {
        return connect(config, PATIENCE);
    }

    /** @param patience how long each request waits for its answer; the program's is ten seconds */
    public static KubeClient connect(Config config, Duration patience) {
        OWN_VERSIONS.setLevel(Level.SEVERE);
        ClientKey.algorithm(config).ifPresent(config::setClientKeyAlgo);
        config.setConnectionTimeout(CONNECT_MILLIS);
        config.setRequestTimeout((int) patience.toMillis());
        // Whoever asks has a back-off of its own, and knows by then whether the answer is still wanted.
        config.setRequestRetryBackoffLimit(0);
        // All objects are trees here: no classes for those that the client knows.
        KubernetesSerialization trees = new KubernetesSerialization(new ObjectMapper(), false);
        return new KubeClient(
                new KubernetesClientBuilder()
                        .withConfig(config)
                        .withKubernetesSerialization(trees)
                        .build(),
                patience);
    }

    /** @throws ApiException also where it is not there */
    public Map<String, Object> get(String path) throws ApiException, InterruptedException {
        return send("GET", path, JSON, "");
    }

    public Map<String, Object> create(String path, Map<String, Object> body) throws ApiException, InterruptedException {
        return send("POST", path, JSON, json.asJson(body));
    }

    /** Server-side apply, taking fields over from others. */
    public Map<String, Object> apply(String path, String fieldManager, Map<String, Object> body)
            throws ApiException, InterruptedException {
        return send("PATCH", path + "?fieldManager=" + fieldManager + "&force=true", APPLY, json.asJson(body));
    }

    /** A JSON patch, RFC 6902. One whose tests fail is answered as {@link ApiException#invalid}. */
    public Map<String, Object> patch(String path, List<Map<String, Object>> operations)
            throws ApiException, InterruptedException {
        return send("PATCH", path, PATCH, asServer(json.asJson(operations)));
    }

    /** A JSON merge patch, RFC 7386. Unlike an apply it makes nothing where nothing is. */
    public Map<String, Object> merge(String path, Map<String, Object> body) throws ApiException, InterruptedException {
        return send("PATCH", path, MERGE, json.asJson(body));
    }

    /** Tests of a patch compare bytes with what the API server has written itself, and it writes these so. */
    private static String asServer(String text) {
        return text.replace("<", "\\u003c")
                .replace(">", "\\u003e")
                .replace("&", "\\u0026")
                .replace("\u2028", "\\u2028")
                .replace("\u2029", "\\u2029");
    }

    /** Puts another in its place; with a resourceVersion in it only if it is still that one. */
    public Map<String, Object> replace(String path, Map<String, Object> body)
            throws ApiException, InterruptedException {
        return send("PUT", path, JSON, json.asJson(body));
    }

    public void delete(String path) throws ApiException, InterruptedException {
        var unused = send("DELETE", path, JSON, "");
    }

    /** @param options as `preconditions` and `gracePeriodSeconds` */
    public void delete(String path, Map<String, Object> options) throws ApiException, InterruptedException {
        var unused = send("DELETE", path, JSON, json.asJson(options));
    }

    /** Follows the objects that have these fields, as {@code spec.nodeName} of Pods: a list and a watch of their own. */
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
     * Seeks to lead among all who seek it with this Lease, from now on until it is closed. Does not wait.
     *
     * @param identity another one for each who seeks it
     * @param begin told when it leads; must not block
     * @param end told when it leads no more
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
        CompletableFuture<HttpResponse<byte[]>> answer = client.getHttpClient().sendAsync(ready, byte[].class);
        try {
            return read(what, answer.get(patience.toMillis(), TimeUnit.MILLISECONDS));
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

    /** Empty where it is no JSON object: what stands between this program and the server answers what it likes. */
    private static Map<String, Object> tree(HttpResponse<byte[]> answer) {
        byte[] body = answer.body();
        try {
            return Json.readObject(packed(answer) ? unpacked(body) : body);
        } catch (IOException e) {
            return Map.of();
        }
    }

    /** The API server packs what is large: less to decipher, which takes longer here than to unpack and to read it. */
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

    /** Lists in pages: 10,000 nodes at once are 100 MB of JSON. */
    public static final class Pages {

        private static final int PAGE = 500;

        private Pages() {}

        /**
         * Hands over each object of a list. Blocks; each page is one request.
         *
         * @param path without a query
         * @param query as `fieldSelector=reason=DryRun`, its values encoded; empty for all
         * @throws ApiException in the middle too, after some have been handed over
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

    /** Of which kind a kubeconfig's key is, where its PEM does not say so and the client would take it for RSA. */
    static final class ClientKey {

        private ClientKey() {}

        /** Empty where there is no such key, or none that Java knows. */
        static Optional<String> algorithm(Config config) {
            try {
                Optional<byte[]> pem = pem(config);
                return pem.isPresent()
                        ? Optional.of(
                                PrivateKeys.parse(pem.get(), "the client's key").getAlgorithm())
                        : Optional.empty();
            } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
                return Optional.empty();
            }
        }

        private static Optional<byte[]> pem(Config config) throws IOException {
            if (config.getClientKeyData() != null) {
                return Optional.of(Base64.getMimeDecoder().decode(config.getClientKeyData()));
            }
            return config.getClientKeyFile() == null
                    ? Optional.empty()
                    : Optional.of(Files.readAllBytes(Path.of(config.getClientKeyFile())));
        }
    }
}
