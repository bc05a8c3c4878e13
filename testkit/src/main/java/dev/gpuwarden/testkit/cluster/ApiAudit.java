package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.JsonPath.JsonTree;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The API server's log of the requests that the program sent as its service accounts, those of the namespace gpuwarden. It shows which
 * rights of the shipped roles the program has used, and which it lacked. Requests of a test with the same token are not in it. Immutable and thread-safe.
 */
public final class ApiAudit {

    private static final String POLICY = """
            apiVersion: audit.k8s.io/v1
            kind: Policy
            omitStages: [RequestReceived]
            rules:
              - {level: Metadata, userGroups: ["system:serviceaccounts:gpuwarden"]}
              - {level: None}
            """;
    private static final String ACCOUNT = "system:serviceaccount:gpuwarden:";

    /** One JSON object for each answer, in a line. The line of a long answer may come after the end of the answer. */
    private final Path log;

    private ApiAudit(Path log) {
        this.log = log;
    }

    static ApiAudit of(Path folder) {
        return new ApiAudit(folder.resolve("audit.log"));
    }

    /** Writes the policy into the folder, and returns the flags of the API server. */
    static List<String> flags(Path folder) {
        Path policy = folder.resolve("audit-policy.yaml");
        Unchecked.run(() -> Files.writeString(policy, POLICY));
        // Megabytes that no run of tests reaches: a second file would end the first.
        return List.of(
                "--audit-policy-file=" + policy, "--audit-log-path=" + of(folder).log, "--audit-log-maxsize=4096");
    }

    /** Returns the present end of the log, for {@link #since}. */
    public long end() {
        return Unchecked.get(() -> Files.exists(log) ? Files.size(log) : 0);
    }

    /** Returns the requests after an earlier end of the log. */
    public List<Request> since(long end) {
        if (!Files.exists(log)) {
            return List.of();
        }
        return Unchecked.get(() -> {
            try (InputStream in = Files.newInputStream(log)) {
                in.skipNBytes(end);
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                // The last line may not be whole yet.
                return text.substring(0, text.lastIndexOf('\n') + 1)
                        .lines()
                        .map(JsonTree::read)
                        .filter(ApiAudit::ofProgram)
                        .map(Request::of)
                        .toList();
            }
        });
    }

    private static boolean ofProgram(Object event) {
        String agent = JsonPath.text(event, ".userAgent");
        return !agent.equals(ApiClient.USER_AGENT) && !agent.startsWith("kubectl/");
    }

    /**
     * A request with its answer.
     *
     * @param account the service account's name
     * @param resource as in `kubectl auth can-i`, such as `nodes/status` or `leases.coordination.k8s.io`
     * @param namespace empty for objects of the cluster
     * @param name empty for lists, watches and some creations
     * @param status of the answer, as HTTP has it
     * @param permitted false if no role grants the right
     */
    public record Request(
            String account,
            String verb,
            String resource,
            String namespace,
            String name,
            String status,
            boolean permitted) {

        static Request of(Object event) {
            String group = JsonPath.text(event, ".objectRef.apiGroup");
            String part = JsonPath.text(event, ".objectRef.subresource");
            return new Request(
                    JsonPath.text(event, ".user.username").replace(ACCOUNT, ""),
                    JsonPath.text(event, ".verb"),
                    JsonPath.text(event, ".objectRef.resource")
                            + (part.isEmpty() ? "" : "/" + part)
                            + (group.isEmpty() ? "" : "." + group),
                    JsonPath.text(event, ".objectRef.namespace"),
                    JsonPath.text(event, ".objectRef.name"),
                    JsonPath.text(event, ".responseStatus.code"),
                    !JsonPath.text(event, ".annotations.authorization\\.k8s\\.io/decision")
                            .equals("forbid"));
        }
    }

    /**
     * A right that a role grants.
     *
     * @param account the service account that has the role
     * @param namespace of the role; empty for the cluster
     * @param name the only object for which it holds; empty for all
     */
    public record Right(String account, String namespace, String verb, String resource, String name) {

        private static final String CREATED = "201";

        /** Returns whether a request was permitted by this right, alone or among others. */
        public boolean permits(Request request) {
            return request.permitted()
                    && account.equals(request.account())
                    && isOf(request)
                    && resource.equals(request.resource())
                    && (namespace.isEmpty() || namespace.equals(request.namespace()))
                    // A watch of one object has no name in the log.
                    && (name.isEmpty() || request.name().isEmpty() || name.equals(request.name()));
        }

        /** Returns whether the request has the verb. A server-side apply of a new object needs both patch and create. */
        private boolean isOf(Request request) {
            return verb.equals(request.verb())
                    || verb.equals("create")
                            && request.verb().equals("patch")
                            && request.status().equals(CREATED);
        }

        @Override
        public String toString() {
            return List.of(account, namespace.isEmpty() ? "*" : namespace, verb, resource, name).stream()
                    .collect(Collectors.joining(" "))
                    .strip();
        }
    }
}
