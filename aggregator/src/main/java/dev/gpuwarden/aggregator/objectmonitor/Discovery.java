package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.cli.Spelling;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the API server names a type of objects in its paths, and whether this program may follow them.
 *
 * @param kind empty where they cannot be followed now
 * @param trouble why not
 * @param absent whether the API server has said that there is no such type, so that there are no objects of it
 */
record Discovery(Optional<ResourceKind> kind, Optional<Trouble> trouble, boolean absent) {

    /** Where rights of users' own for kinds of their own belong. */
    static final String RIGHTS_LABEL = "gpuwarden.dev/aggregate-to-monitor";

    /** Asks the API server once or twice; blocks. */
    static Discovery look(KubeClient api, ResourceType type) throws InterruptedException {
        Map<String, Object> list;
        try {
            list = api.get(type.discoveryPath());
        } catch (ApiException e) {
            return e.notFound()
                    ? absent("the API server has no " + type.apiVersion())
                    : unfollowed("Unreachable", "the API server does not say what it has: " + e.getMessage());
        }
        List<Map<String, Object>> resources = JsonTrees.objects(list, "resources").stream()
                .filter(each -> !JsonTrees.text(each, "name").contains("/"))
                .toList();
        for (Map<String, Object> each : resources) {
            if (JsonTrees.text(each, "kind").equals(type.kind())) {
                return may(api, type, each);
            }
        }
        List<String> kinds =
                resources.stream().map(each -> JsonTrees.text(each, "kind")).toList();
        return absent(type.apiVersion() + " has no kind " + type.kind()
                + Spelling.nearest(type.kind(), kinds)
                        .map(meant -> ", did you mean " + meant + "?")
                        .orElse(""));
    }

    private static Discovery may(KubeClient api, ResourceType type, Map<String, Object> resource)
            throws InterruptedException {
        String plural = JsonTrees.text(resource, "name");
        List<String> verbs = JsonTrees.textList(resource, "verbs");
        if (!verbs.contains("list") || !verbs.contains("watch")) {
            return unfollowed("NotWatchable", "the API server lets nobody follow each " + type);
        }
        ResourceKind kind = ResourceKind.ofCluster(type.group(), type.version(), plural, type.kind());
        try {
            var unused = api.get(kind.path() + "?limit=1");
            return new Discovery(Optional.of(kind), Optional.empty(), false);
        } catch (ApiException e) {
            if (e.forbidden()) {
                return unfollowed(
                        "Forbidden",
                        "the aggregator may not list " + plural + ": make a ClusterRole with the label " + RIGHTS_LABEL
                                + ": \"true\" and the rule {apiGroups: [\"" + type.group() + "\"], resources: ["
                                + plural + "], verbs: [list, watch]}");
            }
            return e.notFound()
                    ? absent("the API server has no " + plural + " any more")
                    : unfollowed("Unreachable", "the API server does not list " + plural + ": " + e.getMessage());
        }
    }

    private static Discovery absent(String why) {
        return new Discovery(
                Optional.empty(),
                Optional.of(new Trouble("ResourceNotFound", why + "; it is looked for again and again")),
                true);
    }

    private static Discovery unfollowed(String reason, String why) {
        return new Discovery(Optional.empty(), Optional.of(new Trouble(reason, why)), false);
    }
}
