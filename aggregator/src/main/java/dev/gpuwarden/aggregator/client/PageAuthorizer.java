package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.api.AccessCodec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Who may look: whoever has the {@link PageRight}. The API server says so; its answers hold for a while. Thread-safe. */
public final class PageAuthorizer {

    private static final String TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews";
    private static final String ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

    /** @param why for him, where he may not */
    public record Verdict(boolean welcome, String why) {}

    /** Few people look, so that a right which was taken away may end soon. */
    private static final Duration GOOD_FOR = Duration.ofSeconds(10);

    private final KubeClient api;
    private final ReviewCache<Verdict> judgements;

    public PageAuthorizer(KubeClient api, LongSupplier nanoTime) {
        this.api = api;
        this.judgements = new ReviewCache<>(Verdict::welcome, GOOD_FOR, nanoTime);
    }

    /** Blocks while the API server is asked. */
    public Verdict token(String token) throws ApiException, InterruptedException {
        return token(token, PageRight.FLEET);
    }

    /** Blocks while the API server is asked. */
    public Verdict token(String token, PageRight right) throws ApiException, InterruptedException {
        return judgements.of("token " + right.text() + " " + token, () -> {
            Map<String, Object> review = api.create(
                    TOKENS,
                    Map.of(
                            "apiVersion", "authentication.k8s.io/v1",
                            "kind", "TokenReview",
                            "spec", right.review(token)));
            Map<String, Object> status = JsonTrees.object(review, "status");
            if (!JsonTrees.isTrue(status, "authenticated") || !right.isFor(JsonTrees.textList(status, "audiences"))) {
                return new Verdict(false, "the API server does not know this token" + right.orAudience());
            }
            return access(JsonTrees.object(status, "user"), right);
        });
    }

    /** Somebody whom a proxy has let in. Blocks while the API server is asked. */
    public Verdict user(String name, List<String> groups) throws ApiException, InterruptedException {
        return judgements.of(
                "user " + name + groups, () -> access(Map.of("username", name, "groups", groups), PageRight.FLEET));
    }

    /** @param user as the status of a TokenReview has it */
    private Verdict access(Map<String, Object> user, PageRight right) throws ApiException, InterruptedException {
        Map<String, Object> review = api.create(
                ACCESS,
                Map.of(
                        "apiVersion",
                        "authorization.k8s.io/v1",
                        "kind",
                        "SubjectAccessReview",
                        "spec",
                        asks(user, right)));
        boolean allowed = JsonTrees.isTrue(JsonTrees.object(review, "status"), "allowed");
        return new Verdict(allowed, allowed ? "" : JsonTrees.text(user, "username") + " may not " + right.text());
    }

    /** All that is known of the caller: a token that is scoped by what it has in `extra` may do less than its user. */
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
     * What somebody must be allowed to do, to see something.
     *
     * @param audience that his token must be for; empty: the API server's own
     * @param text as {@code kubectl auth can-i} takes it; no two rights have the same
     * @param attributes of a SubjectAccessReview
     */
    public record PageRight(String audience, String text, Map<String, String> attributes) {

        private static final String GROUP = "gpuwarden.dev";
        private static final String RESOURCE = "nodehealths";

        static final PageRight FLEET = new PageRight(
                "", "list nodehealths.gpuwarden.dev", Map.of("group", GROUP, "resource", RESOURCE, "verb", "list"));

        /**
         * To read the page that a node itself serves, which shows more than its NodeHealth. The API server serves no such subresource;
         * it is granted and asked for as any other, as the kubelet does with {@code nodes/log}.
         */
        public static PageRight page(String node) {
            return new PageRight(
                    AccessCodec.AUDIENCE,
                    "get nodehealths.gpuwarden.dev/" + node + " --subresource=page",
                    Map.of("group", GROUP, "resource", RESOURCE, "subresource", "page", "name", node, "verb", "get"));
        }

        /** A TokenReview's {@code spec}. */
        Map<String, Object> review(String token) {
            return audience.isEmpty() ? Map.of("token", token) : Map.of("token", token, "audiences", List.of(audience));
        }

        /** @param audiences that a TokenReview's status lists; an API server that knows none lists none, and has not looked */
        boolean isFor(List<String> audiences) {
            return audience.isEmpty() || audiences.contains(audience);
        }

        String orAudience() {
            return audience.isEmpty() ? "" : ", or it is not for the audience '" + audience + "'";
        }
    }
}
