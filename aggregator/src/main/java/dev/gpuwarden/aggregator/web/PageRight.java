package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.api.AccessCodec;
import java.util.List;
import java.util.Map;

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
