package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.PortForward;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The aggregator's page as a browser gets it: by a port-forward to the leading replica, with a token as the password. The content
 * comes from the page's event stream.
 */
final class ClusterPage implements AutoCloseable {

    private static final int TIMEOUT_MILLIS = 10_000;
    private static final int PORT = 9402;
    private static final String NAMESPACE = "gpuwarden";
    private static final JsonReader EVENTS =
            JsonReader.ofDepth(JsonReader.DEEPEST).withNulls();
    private static final int MOST_DECISIONS = 4;

    private final ControlPlane plane;
    private @Nullable PortForward forward;
    private String token = "";

    ClusterPage(ControlPlane plane) {
        this.plane = plane;
    }

    /** Returns the HTTP status without a token, with the token of a user without the right to read, and of one with it. */
    String door() {
        try {
            return "anonymous: " + status("") + "\nstranger: " + status(plane.token("default", "stranger"))
                    + "\nvisitor: " + status(token()) + "\n";
        } catch (IOException e) {
            return unreachable(e);
        }
    }

    /** Returns the page's data of a node as YAML, with the latest decision only. */
    String of(String node) {
        try {
            Map<String, @Nullable Object> fleet = snapshot();
            Map<String, Object> shown = new LinkedHashMap<>();
            JsonTrees.objects(fleet, "nodes").stream()
                    .filter(each -> node.equals(each.get("name")))
                    .forEach(each -> {
                        for (String field : List.of("name", "state", "cause", "why", "next", "rules", "drain")) {
                            shown.put(field, each.get(field));
                        }
                        shown.put(
                                "faults",
                                few(JsonTrees.objects(each, "faults"), "check", "codes", "entities", "action"));
                    });
            shown.put(
                    "decisions",
                    few(
                            JsonTrees.objects(fleet, "decisions").stream()
                                    .filter(each -> node.equals(each.get("node")))
                                    .limit(MOST_DECISIONS)
                                    .toList(),
                            "decision",
                            "reason",
                            "pods"));
            return Output.yaml(shown);
        } catch (IOException e) {
            return unreachable(e);
        }
    }

    private static List<Map<String, Object>> few(List<Map<String, Object>> all, String... fields) {
        return all.stream()
                .map(each -> {
                    Map<String, Object> shown = new LinkedHashMap<>();
                    for (String field : fields) {
                        if (each.get(field) != null) {
                            shown.put(field, each.get(field));
                        }
                    }
                    return shown;
                })
                .toList();
    }

    /** Returns the first event of the stream, which contains the complete state. */
    private Map<String, @Nullable Object> snapshot() throws IOException {
        HttpURLConnection connection = connect("/api/v1/fleet/news", token());
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("data: ")) {
                    return EVENTS.readObject(line.substring("data: ".length()));
                }
            }
            throw new IOException("the stream of news ended without any");
        } finally {
            connection.disconnect();
        }
    }

    private String status(String password) throws IOException {
        HttpURLConnection connection = connect("/", password);
        try {
            return connection.getResponseCode() + " " + connection.getContentType();
        } finally {
            connection.disconnect();
        }
    }

    private HttpURLConnection connect(String path, String password) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) forward().url().resolve(path).toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MILLIS);
        connection.setReadTimeout(TIMEOUT_MILLIS);
        if (!password.isEmpty()) {
            // The user name is ignored.
            byte[] both = ("me:" + password).getBytes(StandardCharsets.UTF_8);
            connection.setRequestProperty(
                    "Authorization", "Basic " + Base64.getEncoder().encodeToString(both));
        }
        return connection;
    }

    private String token() {
        if (token.isEmpty()) {
            token = plane.token("default", "visitor");
        }
        return token;
    }

    private PortForward forward() {
        PortForward now = forward;
        if (now == null) {
            String leader = plane.kubectl(
                    "get",
                    "lease",
                    "gpuwarden-aggregator",
                    "--namespace",
                    NAMESPACE,
                    "--output=jsonpath={.spec.holderIdentity}");
            // The identity is the pod's name, an underscore and an id of the process.
            now = plane.forward(NAMESPACE, "pod/" + leader.substring(0, Math.max(0, leader.indexOf('_'))), PORT);
            forward = now;
        }
        return now;
    }

    /** Closes the port-forward: the next query opens another. */
    private String unreachable(IOException e) {
        close();
        return "unreachable: " + e + "\n";
    }

    @Override
    public void close() {
        if (forward != null) {
            forward.close();
            forward = null;
        }
    }
}
