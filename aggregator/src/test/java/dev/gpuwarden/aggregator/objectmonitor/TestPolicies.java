package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.client.Json.PlainTree;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Policies and pods for tests. */
final class TestPolicies {

    private TestPolicies() {}

    static Map<String, Object> yaml(String text) {
        return PlainTree.of((Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(text));
    }

    static List<MonitorPolicy> shipped() {
        Path file = Path.of(
                System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/monitor-policies.yaml");
        List<MonitorPolicy> policies = new ArrayList<>();
        try {
            for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(Files.readString(file))) {
                policies.add(MonitorPolicy.of(JsonTrees.copy((Map<?, ?>) document)));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return policies;
    }

    static CompiledPolicy compiled(MonitorPolicy policy) {
        try {
            return CompiledPolicy.compile(policy);
        } catch (InvalidExpressionException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a policy on pods, whose node is the one in their spec. */
    static MonitorPolicy policy(String name, String predicate) {
        return policy(name, predicate, "resource.spec.nodeName");
    }

    static MonitorPolicy policy(String name, String predicate, String association) {
        return MonitorPolicy.of(resource(name, "Pod", predicate, association));
    }

    /** Returns the policy with more fields in its spec. */
    static MonitorPolicy with(Map<String, Object> resource, String spec) {
        Map<String, Object> more = JsonTrees.copy(JsonTrees.object(resource, "spec"));
        more.putAll(yaml(spec));
        Map<String, Object> copy = JsonTrees.copy(resource);
        copy.put("spec", more);
        return MonitorPolicy.of(copy);
    }

    static Map<String, Object> resource(String name, String kind, String predicate, String association) {
        Map<String, Object> resource = new LinkedHashMap<>();
        resource.put("apiVersion", MonitorPolicy.API_VERSION);
        resource.put("kind", MonitorPolicy.KIND);
        resource.put("metadata", Map.of("name", name, "generation", 1L));
        resource.put(
                "spec",
                Map.of(
                        "resource", Map.of("group", "", "version", "v1", "kind", kind),
                        "predicate", Map.of("expression", predicate),
                        "nodeAssociation", Map.of("expression", association),
                        "healthEvent",
                                Map.of(
                                        "componentClass",
                                        "Software",
                                        "isFatal",
                                        true,
                                        "message",
                                        "it is broken",
                                        "errorCode",
                                        List.of("BROKEN"))));
        return resource;
    }

    /**
     * Returns a pod of a DaemonSet of the GPU operator, on node n1.
     *
     * @param containers the status of its one container, in YAML
     */
    static Map<String, Object> pod(String phase, String containers) {
        return pod("gpu-operator", "validator", "n1", phase, containers);
    }

    /** Returns the label that an operator gives its pods, in a namespace of its name. */
    private static String label(String namespace) {
        return switch (namespace) {
            case "gpu-operator" -> "app.kubernetes.io/managed-by: gpu-operator";
            case "network-operator" -> "ds-owner: NicClusterPolicy";
            default -> "";
        };
    }

    static Map<String, Object> pod(String namespace, String name, String node, String phase, String containers) {
        return yaml("""
                apiVersion: v1
                kind: Pod
                metadata:
                  namespace: %s
                  name: %s
                  uid: u-%s
                  labels: {%s}
                  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: validator, controller: true}]
                spec:
                  containers: [{name: a, image: x}]
                  %s
                status:
                  phase: %s
                  startTime: "2026-11-22T10:00:00Z"
                  containerStatuses: %s
                """.formatted(
                namespace, name, name, label(namespace), node.isEmpty() ? "" : "nodeName: " + node, phase, containers));
    }
}
