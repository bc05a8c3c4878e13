package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The access check of a page, which admits callers with a {@link PageRight}. The API server decides, and its answers hold for a
 * short time. Thread-safe.
 */
public final class PageAuthorizer {

    /** @param why text for the caller; empty if access is allowed */
    public record Verdict(boolean welcome, String why) {}

    /** Pages have few readers, so the time is short and a removed right ends soon. */
    private static final Duration GOOD_FOR = Duration.ofSeconds(10);

    private final KubeClient api;
    private final ReviewCache<Verdict> judgements;

    public PageAuthorizer(KubeClient api, LongSupplier nanoTime) {
        this.api = api;
        this.judgements = new ReviewCache<>(Verdict::welcome, GOOD_FOR, nanoTime);
    }

    /** Returns the verdict about the right to see the fleet. Blocks while it asks the API server. */
    public Verdict token(String token) throws ApiException, InterruptedException {
        return token(token, PageRight.FLEET);
    }

    /** Returns the verdict about this right. Blocks while it asks the API server. */
    public Verdict token(String token, PageRight right) throws ApiException, InterruptedException {
        return judgements.of("token " + right.text() + " " + token, () -> {
            Map<String, Object> status = api.review("authentication.k8s.io", "TokenReview", right.review(token));
            if (!JsonTrees.isTrue(status, "authenticated") || !right.isFor(JsonTrees.textList(status, "audiences"))) {
                return new Verdict(false, "the API server does not accept this token" + right.orAudience());
            }
            return access(JsonTrees.object(status, "user"), right);
        });
    }

    /** Returns the verdict about a user whom a proxy has authenticated. Blocks while it asks the API server. */
    public Verdict user(String name, List<String> groups) throws ApiException, InterruptedException {
        return judgements.of(
                "user " + name + groups, () -> access(Map.of("username", name, "groups", groups), PageRight.FLEET));
    }

    /** @param user the user of a TokenReview's status */
    private Verdict access(Map<String, Object> user, PageRight right) throws ApiException, InterruptedException {
        Map<String, Object> status = api.review("authorization.k8s.io", "SubjectAccessReview", asks(user, right));
        boolean allowed = JsonTrees.isTrue(status, "allowed");
        return new Verdict(allowed, allowed ? "" : JsonTrees.text(user, "username") + " may not " + right.text());
    }

    /**
     * Returns the review of all that the API server reported about the caller. A token with a scope in `extra` may do less than
     * its user.
     */
    static Map<String, Object> asks(Map<String, Object> user, PageRight right) {
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("user", JsonTrees.text(user, "username"));
        for (String field : List.of("uid", "groups", "extra")) {
            if (user.get(field) != null) {
                spec.put(field, user.get(field));
            }
        }
        spec.put("resourceAttributes", right.attributes());
        return spec;
    }

    /**
     * A right that a caller needs to see a page.
     *
     * @param audience the audience of the caller's token; empty for the API server's own
     * @param text the arguments of {@code kubectl auth can-i}; no two rights have the same
     * @param attributes the resource attributes of a SubjectAccessReview
     */
    public record PageRight(String audience, String text, Map<String, String> attributes) {

        private static final String GROUP = "gpuwarden.dev";
        private static final String RESOURCE = "nodehealths";

        static final PageRight FLEET = new PageRight(
                "", "list nodehealths.gpuwarden.dev", Map.of("group", GROUP, "resource", RESOURCE, "verb", "list"));

        /**
         * Returns the right to read the page that a node itself serves, which shows more than its NodeHealth. The API server
         * serves no such subresource. Administrators grant it like any other, as the kubelet does with {@code nodes/log}.
         */
        public static PageRight page(String node) {
            return new PageRight(
                    AccessCodec.AUDIENCE,
                    "get nodehealths.gpuwarden.dev/" + node + " --subresource=page",
                    Map.of("group", GROUP, "resource", RESOURCE, "subresource", "page", "name", node, "verb", "get"));
        }

        /** Returns a TokenReview's {@code spec}. */
        Map<String, Object> review(String token) {
            return audience.isEmpty() ? Map.of("token", token) : Map.of("token", token, "audiences", List.of(audience));
        }

        /**
         * @param audiences the audiences in a TokenReview's status; an API server without support for audiences lists none, and
         *     has not checked them
         */
        boolean isFor(List<String> audiences) {
            return audience.isEmpty() || audiences.contains(audience);
        }

        String orAudience() {
            return audience.isEmpty() ? "" : ", or it is not for the audience '" + audience + "'";
        }
    }
}
