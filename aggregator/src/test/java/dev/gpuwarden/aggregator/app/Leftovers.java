package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiClient;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The objects that tests leave on an API server, and that another test must not see. */
final class Leftovers {

    private static final List<String> NAMESPACED = List.of("pods", "poddisruptionbudgets", "events");

    private static final List<String> OF_AGGREGATORS = List.of("configmaps/gpuwarden", "leases/gpuwarden");

    private static final List<String> OF_CLUSTER = List.of(
            "gpuresets",
            "rebootnodes",
            "terminatenodes",
            "nodes",
            "nodehealths",
            "monitorpolicies",
            "quarantinerulesets",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings");

    /** Their controller keeps them until it has cleaned up. */
    private static final List<String> WITH_FINALIZERS = List.of("gpuresets", "rebootnodes", "terminatenodes");

    private static final List<String> ROLES = List.of("clusterroles", "clusterrolebindings");

    private Leftovers() {}

    /** Blocks until lists from the API server's cache, with which informers begin, do not contain them either. */
    static void remove(ApiClient client) {
        for (Map<String, Object> pod : items(client, "pods")) {
            if (JsonTrees.object(pod, "metadata").containsKey("finalizers")) {
                client.patch("pod/" + namespace(pod) + "/" + name(pod), "{\"metadata\": {\"finalizers\": null}}");
            }
        }
        for (String resource : NAMESPACED) {
            Set<String> namespaces =
                    items(client, resource).stream().map(Leftovers::namespace).collect(Collectors.toSet());
            namespaces.forEach(namespace -> client.deleteNow(resource + "/" + namespace));
            gone(client, resource);
        }
        for (String resource : OF_CLUSTER) {
            client.delete(resource);
        }
        for (String resource : WITH_FINALIZERS) {
            for (Map<String, Object> object : items(client, resource)) {
                client.patch(resource + "/" + name(object), "{\"metadata\": {\"finalizers\": null}}");
            }
        }
        OF_AGGREGATORS.forEach(client::delete);
        OF_CLUSTER.forEach(resource -> gone(client, resource));
        OF_AGGREGATORS.forEach(resource -> gone(client, resource));
        for (String resource : ROLES) {
            for (Map<String, Object> role : items(client, resource + "?labelSelector=!kubernetes.io/bootstrapping")) {
                if (!name(role).startsWith("gpuwarden")) {
                    client.delete(resource + "/" + name(role));
                }
            }
        }
    }

    private static void gone(ApiClient client, String resource) {
        until(() -> items(client, resource + "?resourceVersion=0").isEmpty(), "no more " + resource);
    }

    private static List<Map<String, Object>> items(ApiClient client, String reference) {
        return JsonTrees.objects(client.get(reference), "items");
    }

    private static String name(Map<String, Object> object) {
        return JsonTrees.text(JsonTrees.object(object, "metadata"), "name");
    }

    private static String namespace(Map<String, Object> object) {
        return JsonTrees.text(JsonTrees.object(object, "metadata"), "namespace");
    }
}
