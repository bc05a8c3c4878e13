package dev.gpuwarden.aggregator.page;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.cluster.Judgements;
import dev.gpuwarden.aggregator.json.Trees;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Who may look: whoever has the {@link Right}. The API server says so; its answers hold for a while. Thread-safe. */
public final class Visitors {

    private static final String TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews";
    private static final String ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

    /** @param why for him, where he may not */
    public record Verdict(boolean welcome, String why) {}

    private final ClusterApi api;
    private final Judgements<Verdict> judgements;

    public Visitors(ClusterApi api, LongSupplier nanoTime) {
        this.api = api;
        this.judgements = new Judgements<>(Verdict::welcome, nanoTime);
    }

    /** Blocks while the API server is asked. */
    Verdict token(String token) throws ClusterException, InterruptedException {
        return token(token, Right.FLEET);
    }

    /** Blocks while the API server is asked. */
    public Verdict token(String token, Right right) throws ClusterException, InterruptedException {
        return judgements.of("token " + right.text() + " " + token, () -> {
            Map<String, Object> review = api.create(
                    TOKENS,
                    Map.of(
                            "apiVersion", "authentication.k8s.io/v1",
                            "kind", "TokenReview",
                            "spec", right.review(token)));
            Map<String, Object> status = Trees.object(review, "status");
            if (!Trees.isTrue(status, "authenticated") || !right.isFor(Trees.textList(status, "audiences"))) {
                return new Verdict(false, "the API server does not know this token" + right.orAudience());
            }
            Map<String, Object> user = Trees.object(status, "user");
            List<String> groups = user.get("groups") instanceof List<?> list
                    ? list.stream().map(String::valueOf).toList()
                    : List.of();
            return access(Trees.text(user, "username"), groups, right);
        });
    }

    /** Somebody whom a proxy has let in. Blocks while the API server is asked. */
    Verdict user(String name, List<String> groups) throws ClusterException, InterruptedException {
        return judgements.of("user " + name + groups, () -> access(name, groups, Right.FLEET));
    }

    private Verdict access(String user, List<String> groups, Right right)
            throws ClusterException, InterruptedException {
        Map<String, Object> review = api.create(
                ACCESS,
                Map.of(
                        "apiVersion", "authorization.k8s.io/v1",
                        "kind", "SubjectAccessReview",
                        "spec",
                                Map.of(
                                        "user", user,
                                        "groups", groups,
                                        "resourceAttributes", right.attributes())));
        boolean allowed = Trees.isTrue(Trees.object(review, "status"), "allowed");
        return new Verdict(allowed, allowed ? "" : user + " may not " + right.text());
    }
}
