package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.NodeCommand;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pod that runs the operator's program for a reboot or a termination. It runs on any node but the one at fault, without
 * privileges. An init container tests again just before the program starts. It alone has a token of the API server. Pure.
 */
final class CommandPod {

    private CommandPod() {}

    private static final Map<String, Object> SECURITY = Map.of(
            "allowPrivilegeEscalation",
            false,
            "capabilities",
            Map.of("drop", List.of("ALL")),
            "seccompProfile",
            Map.of("type", "RuntimeDefault"));

    private static final Map<String, Object> NEEDS = Map.of("requests", Map.of("cpu", "10m", "memory", "64Mi"));

    static Map<String, Object> of(Maintenance resource, JanitorSettings settings, NodeCommand command) {
        Map<String, Object> pod = new LinkedHashMap<>();
        pod.put("restartPolicy", "Never");
        pod.put("serviceAccountName", JanitorSettings.JOB_ACCOUNT);
        pod.put("automountServiceAccountToken", false);
        pod.put("terminationGracePeriodSeconds", 30);
        pod.put("affinity", elsewhere(resource.node()));
        pod.put("initContainers", List.of(GatePod.container(resource, settings, SECURITY, NEEDS)));
        pod.put("volumes", List.of(GatePod.volume()));
        pod.put("containers", List.of(container(resource, command)));
        return pod;
    }

    private static Map<String, Object> elsewhere(String node) {
        Map<String, Object> other = Map.of("key", "metadata.name", "operator", "NotIn", "values", List.of(node));
        return Map.of(
                "nodeAffinity",
                Map.of(
                        "requiredDuringSchedulingIgnoredDuringExecution",
                        Map.of("nodeSelectorTerms", List.of(Map.of("matchFields", List.of(other))))));
    }

    private static Map<String, Object> container(Maintenance resource, NodeCommand command) {
        Map<String, Object> container = new LinkedHashMap<>();
        container.put("name", "action");
        container.put("image", command.image());
        container.put("imagePullPolicy", "IfNotPresent");
        container.put("command", command.words());
        container.put("terminationMessagePolicy", "FallbackToLogsOnError");
        container.put("securityContext", SECURITY);
        container.put("resources", NEEDS);
        container.put(
                "env",
                List.of(
                        variable("ACTION", resource.kind() == MaintenanceKind.REBOOT_NODE ? "reboot" : "terminate"),
                        variable("NODE_NAME", resource.node()),
                        variable("BOOT_ID", resource.progress().bootId()),
                        variable("RESOURCE", resource.name()),
                        variable("FORCE", Boolean.toString(resource.force()))));
        command.secret()
                .ifPresent(name -> container.put("envFrom", List.of(Map.of("secretRef", Map.of("name", name)))));
        return container;
    }

    private static Map<String, Object> variable(String name, String value) {
        return Map.of("name", name, "value", value);
    }
}
