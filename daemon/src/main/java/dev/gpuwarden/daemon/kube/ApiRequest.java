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
        events,
        /** Lists and watches of pods. */
        pods,
        /** Writes of status.capacity. */
        capacity,
        /** The requests that end one pod: its read, an eviction as a dry run, and a deletion. */
        removals,
        /** The reads just before an act of maintenance. */
        maintenance
    }

    /** The field manager of every write (kubernetes.io, field management). */
    static final String MANAGER = "gpuwarden";

    static final String ALL_NODES = "/api/v1/nodes";

    private static final String NODES = ALL_NODES + "/";
    /** The Events of Nodes, which are in no namespace. */
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    static ApiRequest read(String node) {
        return get(Kind.read, NODES + node);
    }

    static ApiRequest get(Kind kind, String path) {
        return new ApiRequest(kind, "GET", path, "", "");
    }

    /** Returns the path of a pod. */
    static String pod(String namespace, String name) {
        return "/api/v1/namespaces/" + namespace + "/pods/" + name;
    }

    /** The query makes it a dry run, since an admission policy sees that. */
    static ApiRequest evictionAsDryRun(String namespace, String pod, Map<String, Object> body) {
        return new ApiRequest(
                Kind.removals,
                "POST",
                pod(namespace, pod) + "/eviction?dryRun=All",
                "application/json",
                Output.jsonLine(body));
    }

    static ApiRequest deletion(String namespace, String pod, Map<String, Object> body) {
        return new ApiRequest(Kind.removals, "DELETE", pod(namespace, pod), "application/json", Output.jsonLine(body));
    }

    /** Returns a server-side apply, after which gpuwarden owns exactly these conditions. */
    static ApiRequest conditions(String node, Map<String, Object> body) {
        return apply(Kind.conditions, node, MANAGER, body);
    }

    /** Returns a server-side apply, after which this manager owns exactly these fields. */
    static ApiRequest status(String node, String manager, Map<String, Object> body) {
        return apply(Kind.capacity, node, manager, body);
    }

    private static ApiRequest apply(Kind kind, String node, String manager, Map<String, Object> body) {
        return new ApiRequest(
                kind,
                "PATCH",
                NODES + node + "/status?fieldManager=" + manager + "&force=true",
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
        return !method.equals("GET");
    }
}
