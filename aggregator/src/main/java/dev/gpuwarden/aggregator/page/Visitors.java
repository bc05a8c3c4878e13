package dev.gpuwarden.aggregator.page;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.json.Trees;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Who may look: whoever may list NodeHealths. The API server says so; its answers hold for a while. Thread-safe. */
final class Visitors {

    private static final String TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews";
    private static final String ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    private static final long GOOD_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long BAD_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int MOST = 1024;

    /** @param why for him, where he may not */
    record Verdict(boolean welcome, String why) {}

    private record Known(Verdict verdict, long untilNanos) {}

    private final ClusterApi api;
    private final LongSupplier nanoTime;
    private final Map<String, Known> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
            return size() > MOST;
        }
    };

    Visitors(ClusterApi api, LongSupplier nanoTime) {
        this.api = api;
        this.nanoTime = nanoTime;
    }

    private interface Question {
        Verdict ask() throws ClusterException, InterruptedException;
    }

    /** Blocks while the API server is asked. */
    Verdict token(String token) throws ClusterException, InterruptedException {
        return remembered("token " + hash(token), () -> {
            Map<String, Object> review = api.create(
                    TOKENS,
                    Map.of(
                            "apiVersion", "authentication.k8s.io/v1",
                            "kind", "TokenReview",
                            "spec", Map.of("token", token)));
            Map<String, Object> status = Trees.object(review, "status");
            if (!Trees.isTrue(status, "authenticated")) {
                return new Verdict(false, "the API server does not know this token");
            }
            Map<String, Object> user = Trees.object(status, "user");
            List<String> groups = user.get("groups") instanceof List<?> list
                    ? list.stream().map(String::valueOf).toList()
                    : List.of();
            return access(Trees.text(user, "username"), groups);
        });
    }

    /** Somebody whom a proxy has let in. Blocks while the API server is asked. */
    Verdict user(String name, List<String> groups) throws ClusterException, InterruptedException {
        return remembered("user " + name + groups, () -> access(name, groups));
    }

    private Verdict access(String user, List<String> groups) throws ClusterException, InterruptedException {
        Map<String, Object> review = api.create(
                ACCESS,
                Map.of(
                        "apiVersion", "authorization.k8s.io/v1",
                        "kind", "SubjectAccessReview",
                        "spec",
                                Map.of(
                                        "user", user,
                                        "groups", groups,
                                        "resourceAttributes",
                                                Map.of(
                                                        "group", "gpuwarden.dev",
                                                        "resource", "nodehealths",
                                                        "verb", "list"))));
        boolean allowed = Trees.isTrue(Trees.object(review, "status"), "allowed");
        return new Verdict(allowed, allowed ? "" : user + " may not list nodehealths.gpuwarden.dev");
    }

    private Verdict remembered(String key, Question question) throws ClusterException, InterruptedException {
        synchronized (known) {
            Known before = known.get(key);
            if (before != null && before.untilNanos() - nanoTime.getAsLong() > 0) {
                return before.verdict();
            }
        }
        Verdict verdict = question.ask();
        long until = nanoTime.getAsLong() + (verdict.welcome() ? GOOD_NANOS : BAD_NANOS);
        synchronized (known) {
            known.remove(key);
            known.put(key, new Known(verdict, until));
        }
        return verdict;
    }

    /** Whoever reads this process's memory finds no tokens here. */
    private static String hash(String token) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
