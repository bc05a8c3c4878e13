package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.Output;
import java.util.Map;

/**
 * One thing asked of the API server.
 *
 * @param path below the server's address, with query
 * @param body empty for none
 */
record ApiRequest(Kind kind, String method, String path, String contentType, String body) {

    /** What it is for, in metrics. */
    enum Kind {
        read,
        conditions,
        labels,
        events
    }

    /** What is told of every write: who it was. kubernetes.io, field management. */
    static final String MANAGER = "gpuwarden";

    private static final String NODES = "/api/v1/nodes/";
    /** Where Kubernetes keeps what is told of Nodes, which are in no namespace. */
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    static ApiRequest read(String node) {
        return new ApiRequest(Kind.read, "GET", NODES + node, "", "");
    }

    /** Server-side apply: the conditions given are ours from now on, and of ours no others. */
    static ApiRequest conditions(String node, Map<String, Object> body) {
        return new ApiRequest(
                Kind.conditions,
                "PATCH",
                NODES + node + "/status?fieldManager=" + MANAGER + "&force=true",
                "application/apply-patch+yaml",
                Output.jsonLine(body));
    }

    static ApiRequest labels(String node, Map<String, Object> body) {
        return merge(Kind.labels, NODES + node, body);
    }

    static ApiRequest event(Map<String, Object> body) {
        return new ApiRequest(
                Kind.events, "POST", EVENTS + "?fieldManager=" + MANAGER, "application/json", Output.jsonLine(body));
    }

    static ApiRequest event(String name, Map<String, Object> changes) {
        return merge(Kind.events, EVENTS + "/" + name, changes);
    }

    private static ApiRequest merge(Kind kind, String path, Map<String, Object> body) {
        return new ApiRequest(
                kind,
                "PATCH",
                path + "?fieldManager=" + MANAGER,
                "application/merge-patch+json",
                Output.jsonLine(body));
    }

    boolean writes() {
        return kind != Kind.read;
    }
}
