package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Pods, events and Nodes for tests. */
final class Some {

    static final Instant NOW = Instant.parse("2026-11-22T06:00:00Z");

    private Some() {}

    static Map<String, Object> tree(String json) {
        try {
            return Json.readObject(json);
        } catch (IOException e) {
            throw new AssertionError(json, e);
        }
    }

    /** Returns a pod of a ReplicaSet, in namespace `team`. */
    static String pod(String name) {
        return """
            {"metadata": {"name": "%s", "namespace": "team", "uid": "uid-%s", "labels": {"app": "web"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "controller": true}]},
            "spec": {"containers": [{"name": "main"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "main", "state": {"running": {}}}]}}\
            """.formatted(name, name);
    }

    static PodView read(String json) {
        return PodView.of(tree(json));
    }

    static HealthEvent event(RecommendedAction action, String... gpus) {
        return HealthEvent.of("a", "GPU", "Xid")
                .nodeName("n")
                .fatal(true)
                .errorCodes(List.of("48"))
                .action(action)
                .entities(Stream.concat(
                                Stream.of(new Entity(Entity.PCI, "0000:3b:00")),
                                Stream.of(gpus).map(Entity::gpu))
                        .toList())
                .build();
    }

    static DrainAnnotation full() {
        return DrainAnnotation.NONE.with(new DrainRequest(true, java.util.Set.of(), false, "Xid 79"), NOW);
    }

    static DrainAnnotation partial(String... gpus) {
        return DrainAnnotation.NONE.with(new DrainRequest(false, java.util.Set.of(gpus), false, "Xid 48"), NOW);
    }

    /** Returns a quarantined Node with this drain. */
    static CachedNode node(Optional<String> drain) {
        String more = drain.map(text -> ", \"gpuwarden.dev/drain\": " + Json.write(text))
                .orElse("");
        return CachedNode.of(tree("""
            {"metadata": {"name": "n", "uid": "u", "resourceVersion": "7", "labels": {},
            "annotations": {"quarantineHealthEvent": "[]"%s}}, "spec": {"unschedulable": true}}
            """.formatted(more)));
    }

    static DrainPolicies policies(String... namespaces) {
        DrainPolicies usual = DrainPolicies.DEFAULT;
        return new DrainPolicies(
                List.of(),
                Stream.of(namespaces).map(DrainPolicies.Parser::namespace).toList(),
                usual.system(),
                usual.grace(),
                usual.timeout(),
                usual.notReady(),
                usual.notice(),
                false,
                false);
    }
}
