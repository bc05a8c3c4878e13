package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.core.util.JsonTrees;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A check of rights by the API server, before a command does anything. Each right is one request. Blocks.
 *
 * @param account the ServiceAccount whose rights are checked; empty for the caller
 */
public record AccessReviewer(KubeClient api, Optional<Account> account) {

    /** A check of the caller's own rights. */
    public AccessReviewer(KubeClient api) {
        this(api, Optional.empty());
    }

    /** A ServiceAccount. */
    public record Account(String namespace, String name) {

        /** Returns its user name, as the API server reports it. */
        public String user() {
            return "system:serviceaccount:" + namespace + ":" + name;
        }

        private List<String> groups() {
            return List.of("system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated");
        }
    }

    /**
     * A right to a verb on all objects of a resource.
     *
     * @param group empty for the core group
     * @param resource plural, with its subresource, for example {@code nodes/status}
     * @param namespace empty for all namespaces, and for objects without one
     */
    public record Right(String verb, String group, String resource, String namespace) {

        public Right(String verb, String group, String resource) {
            this(verb, group, resource, "");
        }

        @Override
        public String toString() {
            return verb + " " + resource + (group.isEmpty() ? "" : "." + group)
                    + (namespace.isEmpty() ? "" : " in " + namespace);
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
        Map<String, String> attributes = Map.of(
                "verb", right.verb(),
                "group", right.group(),
                "resource", resource[0],
                "subresource", resource.length == 2 ? resource[1] : "",
                "namespace", right.namespace());
        Map<String, Object> status = account.isEmpty()
                ? api.review(
                        "authorization.k8s.io", "SelfSubjectAccessReview", Map.of("resourceAttributes", attributes))
                : api.review(
                        "authorization.k8s.io",
                        "SubjectAccessReview",
                        Map.of(
                                "user", account.get().user(),
                                "groups", account.get().groups(),
                                "resourceAttributes", attributes));
        return JsonTrees.isTrue(status, "allowed");
    }

    public static String text(List<Right> rights) {
        return rights.stream().map(Right::toString).collect(Collectors.joining(", "));
    }
}
