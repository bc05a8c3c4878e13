package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.JsonPath.JsonTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * Sends requests to an API server from the test's own process, in a hundredth of the time of kubectl, which is a process each.
 *
 * <p>An object is named `RESOURCE/NAME`, or `RESOURCE/NAMESPACE/NAME` where its kind has namespaces: `node/n1`,
 * `pod/work/one`; a subresource follows: `pod/work/one/eviction`. All objects are `nodes`, `pods/work`, or `pods` in all
 * namespaces. A resource has every name that kubectl accepts. A query may follow: `pods/work?labelSelector=app%3Da`. The client
 * waits for a resource whose CustomResourceDefinition was just created.
 *
 * <p>Objects are plain trees: maps, lists, texts, numbers, booleans. Every method blocks until the API server has answered, and
 * throws {@link ApiException} when the server refuses the request. Thread-safe.
 */
public final class ApiClient {

    private static final Duration REQUEST_LIMIT = Duration.ofMinutes(1);
    private static final Duration NEW_KIND = Duration.ofSeconds(20);
    private static final Duration WAITING_LIMIT = Duration.ofMinutes(1);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final String JSON = "application/json";

    /** Distinguishes the requests of a test from those of a program with the same token. */
    static final String USER_AGENT = "gpuwarden-testkit";

    /** The answer for a kind that discovery lists, but that cannot be read or written yet. */
    private static final String NEW_STORAGE = "storage is (re)initializing";

    private final String url;
    private final @Nullable String token;
    private final Duration newKind;
    private final HttpClient http;
    private volatile ApiResources resources = ApiResources.NONE;

    /** @param token of the caller; null for the administrator */
    ApiClient(ControlPlane plane, @Nullable String token) {
        this(plane, token, NEW_KIND);
    }

    /** @param newKind limit of the wait for a kind that the API server does not have */
    ApiClient(ControlPlane plane, @Nullable String token, Duration newKind) {
        this.url = plane.url();
        this.token = token;
        this.newKind = newKind;
        this.http = HttpClient.newBuilder()
                .sslContext(ClientTls.context(plane, token == null))
                .build();
    }

    // ---- reading ----

    /** Returns the object, or the list of objects with its `items`. */
    public Map<String, Object> get(String reference) {
        return object(send("GET", path(reference), JSON, ""));
    }

    /** Returns the text that {@link JsonPath#text} finds in the object. */
    public String get(String reference, String path) {
        return JsonPath.text(get(reference), path);
    }

    /** Returns the object, or empty where it does not exist. */
    public Optional<Map<String, Object>> find(String reference) {
        try {
            return Optional.of(get(reference));
        } catch (ApiException e) {
            if (e.status() == ApiException.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Returns the text as {@link #get(String, String)} does, and an empty text where the object does not exist. */
    public String find(String reference, String path) {
        return find(reference).map(object -> JsonPath.text(object, path)).orElse("");
    }

    /**
     * Polls until {@link #find(String, String)} returns this text.
     *
     * @throws IllegalStateException after a minute, with the text that it returned last
     */
    public void await(String reference, String path, String wanted) {
        await(reference, path, "'" + wanted + "'", wanted::equals);
    }

    /** @param what description of the expected text */
    public void await(String reference, String path, String what, Predicate<String> wanted) {
        long end = System.nanoTime() + WAITING_LIMIT.toNanos();
        for (String now = find(reference, path); !wanted.test(now); now = find(reference, path)) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException(reference + ": expected " + what + " at " + path + " within "
                        + WAITING_LIMIT.toSeconds() + " s, found '" + now + "'");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    // ---- writing ----

    /**
     * Creates or changes each object of the manifest, by server-side apply that overrules other owners of its fields. The API
     * server refuses fields that do not exist.
     *
     * @param manifest documents of YAML
     */
    public void apply(String manifest) {
        for (String document : manifest.split("(?m)^---.*$")) {
            // The API server reads the text itself, as kubectl does: YAML 1.1, where 0440 is octal.
            if (parse(document) instanceof Map<?, ?> object) {
                String query = "?fieldManager=testkit&force=true&fieldValidation=Strict";
                String name = JsonPath.text(object, ".metadata.name");
                send("PATCH", path(object) + "/" + name + query, "application/apply-patch+yaml", document);
            }
        }
    }

    /**
     * Creates an object, and returns it as the API server stores it.
     *
     * @param object one document of YAML
     */
    public Map<String, Object> create(String object) {
        if (parse(object) instanceof Map<?, ?> map) {
            return object(send("POST", path(map) + "?fieldValidation=Strict", "application/yaml", object));
        }
        throw new IllegalArgumentException("expected an object, found: " + object);
    }

    private static @Nullable Object parse(String document) {
        return new Load(LoadSettings.builder().build()).loadFromString(document);
    }

    /** Posts to a subresource, for example `pod/work/one/eviction`; returns the answer. */
    public Map<String, Object> post(String reference, String json) {
        return object(send("POST", path(reference), JSON, json));
    }

    /**
     * Changes an object by a merge patch: lists are replaced as a whole, a field that is null is removed.
     *
     * @return the changed object
     */
    public Map<String, Object> patch(String reference, String json) {
        return object(send("PATCH", path(reference), "application/merge-patch+json", json));
    }

    /** Deletes an object, or all objects of a list. Returns whether it existed; does not wait for its end. */
    public boolean delete(String reference) {
        try {
            send("DELETE", path(reference), JSON, "");
            return true;
        } catch (ApiException e) {
            if (e.status() == ApiException.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    /** Deletes an object without a grace period for the containers of a pod. */
    public boolean deleteNow(String reference) {
        return delete(reference + (reference.contains("?") ? "&" : "?") + "gracePeriodSeconds=0");
    }

    // ---- paths ----

    private String path(String reference) {
        String[] parts = reference.split("\\?", 2);
        String[] names = parts[0].split("/", -1);
        ApiResources.Resource resource =
                resource(found -> found.names().contains(names[0]), "a resource called " + names[0]);
        int next = resource.namespaced() && names.length > 1 ? 2 : 1;
        StringBuilder path = new StringBuilder(resource.path(next == 2 ? names[1] : ""));
        for (int i = next; i < names.length; i++) {
            path.append('/').append(names[i]);
        }
        return parts.length == 2 ? path + "?" + parts[1] : path.toString();
    }

    /** Returns the path of all objects of a kind in a namespace. */
    private String path(Map<?, ?> object) {
        String version = JsonPath.text(object, ".apiVersion");
        String base = (version.contains("/") ? "/apis/" : "/api/") + version;
        String kind = JsonPath.text(object, ".kind");
        ApiResources.Resource resource = resource(
                found -> found.base().equals(base) && found.kind().equals(kind), "kind " + kind + " in " + version);
        String namespace = JsonPath.text(object, ".metadata.namespace");
        return resource.path(namespace.isEmpty() ? "default" : namespace);
    }

    private ApiResources.Resource resource(Predicate<ApiResources.Resource> fits, String what) {
        ApiResources.Resource found = resources.first(fits);
        long end = System.nanoTime() + newKind.toNanos();
        while (found == null) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException(
                        url + ": expected " + what + " within " + newKind.toMillis() + " ms, the API server has none");
            }
            LockSupport.parkNanos(POLL_NANOS);
            resources = ApiResources.discover(root -> object(send("GET", root, ApiResources.ACCEPT, "")));
            found = resources.first(fits);
        }
        return found;
    }

    // ---- requests ----

    /** @param type media type of the body, and for a GET of the answer */
    private String send(String method, String path, String type, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(REQUEST_LIMIT)
                .header("User-Agent", USER_AGENT)
                .header("Accept", method.equals("GET") ? type : JSON)
                .header("Content-Type", type)
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        try {
            HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
            long end = System.nanoTime() + newKind.toNanos();
            while (answer.statusCode() == 429 && answer.body().contains(NEW_STORAGE) && System.nanoTime() - end < 0) {
                LockSupport.parkNanos(POLL_NANOS);
                answer = http.send(request.build(), BodyHandlers.ofString());
            }
            if (answer.statusCode() / 100 != 2) {
                throw new ApiException(method + " " + path, answer.statusCode(), answer.body());
            }
            return answer.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while an API server is asked", e);
        }
    }

    @SuppressWarnings("unchecked") // names of fields are texts
    private static Map<String, Object> object(String json) {
        return (Map<String, Object>) JsonTree.read(json);
    }

    /** The resources of an API server, from its discovery. Immutable. */
    record ApiResources(List<Resource> all) {

        static final String ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

        /**
         * A resource.
         *
         * @param base of its path, for example `/apis/apps/v1`
         * @param names that kubectl accepts: plural, singular and short ones, each alone and with its group
         */
        record Resource(String base, String plural, String kind, boolean namespaced, List<String> names) {

            /** Returns the path in a namespace, or in all namespaces for an empty text. */
            String path(String namespace) {
                return base + (namespaced && !namespace.isEmpty() ? "/namespaces/" + namespace : "") + "/" + plural;
            }
        }

        static final ApiResources NONE = new ApiResources(List.of());

        /** @param get returns the tree at a path of discovery */
        static ApiResources discover(Function<String, Map<String, Object>> get) {
            List<Resource> all = new ArrayList<>();
            for (String root : List.of("/api", "/apis")) {
                for (Map<?, ?> group : JsonTrees.objects(get.apply(root), "items")) {
                    String name = JsonPath.text(group, ".metadata.name");
                    for (Map<?, ?> version : JsonTrees.objects(group, "versions")) {
                        String base = root + (name.isEmpty() ? "" : "/" + name) + "/" + version.get("version");
                        JsonTrees.objects(version, "resources").forEach(found -> all.add(resource(base, name, found)));
                    }
                }
            }
            return new ApiResources(List.copyOf(all));
        }

        private static Resource resource(String base, String group, Map<?, ?> found) {
            String plural = JsonPath.text(found, ".resource");
            List<String> names = new ArrayList<>(List.of(plural, JsonPath.text(found, ".singularResource")));
            names.addAll(JsonTrees.textList(found, "shortNames"));
            if (!group.isEmpty()) {
                names.add(plural + "." + group);
            }
            return new Resource(
                    base,
                    plural,
                    JsonPath.text(found, ".responseKind.kind"),
                    JsonPath.text(found, ".scope").equals("Namespaced"),
                    List.copyOf(names));
        }

        /** Returns the first match in the order of the API server's groups, the core group first; null where there is none. */
        @org.jspecify.annotations.Nullable Resource first(Predicate<Resource> fits) {
            return all.stream().filter(fits).findFirst().orElse(null);
        }
    }
}
