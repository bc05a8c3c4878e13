package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.Output;
import java.util.Map;

/**
 * A request to the API server.
 *
 * @param path below the server's address, with query
 * @param body empty for none
 */
record ApiRequest(Kind kind, String method, String path, String contentType, String body) {

    /** The purpose of a request, a label in metrics. */
    enum Kind {
        read,
        conditions,
        labels,
        events
    }

    /** The field manager of every write (kubernetes.io, field management). */
    static final String MANAGER = "gpuwarden";

    private static final String NODES = "/api/v1/nodes/";
    /** The Events of Nodes, which are in no namespace. */
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    static ApiRequest read(String node) {
        return new ApiRequest(Kind.read, "GET", NODES + node, "", "");
    }

    /** Returns a server-side apply, after which gpuwarden owns exactly these conditions. */
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
