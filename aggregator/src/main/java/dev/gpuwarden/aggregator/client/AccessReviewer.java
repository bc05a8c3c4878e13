package dev.gpuwarden.aggregator.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A check of the caller's rights by the API server, before a command does anything. Each right is one request. Blocks. */
public record AccessReviewer(KubeClient api) {

    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    /**
     * A right to a verb on all objects of a resource.
     *
     * @param group empty for the core group
     * @param resource plural, with its subresource, for example {@code nodes/status}
     */
    public record Right(String verb, String group, String resource) {
        @Override
        public String toString() {
            return verb + " " + resource + (group.isEmpty() ? "" : "." + group);
        }
    }

    /** Returns the rights of this list that the caller lacks. */
    public List<Right> missing(List<Right> needed) throws ApiException, InterruptedException {
        List<Right> missing = new ArrayList<>();
        for (Right right : needed) {
            if (!has(right)) {
                missing.add(right);
            }
        }
        return missing;
    }

    private boolean has(Right right) throws ApiException, InterruptedException {
        String[] resource = right.resource().split("/", 2);
        Map<String, Object> review = api.create(
                REVIEWS,
                Map.of(
                        "apiVersion", "authorization.k8s.io/v1",
                        "kind", "SelfSubjectAccessReview",
                        "spec",
                                Map.of(
                                        "resourceAttributes",
                                        Map.of(
                                                "verb",
                                                right.verb(),
                                                "group",
                                                right.group(),
                                                "resource",
                                                resource[0],
                                                "subresource",
                                                resource.length == 2 ? resource[1] : ""))));
        return JsonTrees.isTrue(JsonTrees.object(review, "status"), "allowed");
    }

    public static String text(List<Right> rights) {
        return rights.stream().map(Right::toString).collect(Collectors.joining(", "));
    }
}
