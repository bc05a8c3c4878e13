package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.json.Trees;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What the caller may do, as the API server says it before anything is done. Each right is one request. Blocks. */
record Rights(ClusterApi api) {

    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    /** Of all objects of a kind. */
    record Right(String verb, String group, String resource) {
        @Override
        public String toString() {
            return verb + " " + resource + (group.isEmpty() ? "" : "." + group);
        }
    }

    /** Those of these that the caller has not. */
    List<Right> missing(List<Right> needed) throws ClusterException, InterruptedException {
        List<Right> missing = new ArrayList<>();
        for (Right right : needed) {
            if (!has(right)) {
                missing.add(right);
            }
        }
        return missing;
    }

    private boolean has(Right right) throws ClusterException, InterruptedException {
        Map<String, Object> review = api.create(
                REVIEWS,
                Map.of(
                        "apiVersion", "authorization.k8s.io/v1",
                        "kind", "SelfSubjectAccessReview",
                        "spec",
                                Map.of(
                                        "resourceAttributes",
                                        Map.of(
                                                "verb", right.verb(),
                                                "group", right.group(),
                                                "resource", right.resource()))));
        return Trees.isTrue(Trees.object(review, "status"), "allowed");
    }

    static String text(List<Right> rights) {
        return rights.stream().map(Right::toString).collect(Collectors.joining(", "));
    }
}
