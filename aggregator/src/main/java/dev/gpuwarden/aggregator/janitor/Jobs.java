package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The Jobs of resources. Their names follow from the UID, so a second create fails. A Job is created suspended, and runs once the
 * status of its resource refers to it: a write of the status fails for a leader that was replaced, and a create does not. Pure.
 */
final class Jobs {

    /** The annotation with the time of the start. A Job can wait long for it, while no replica leads. */
    static final String STARTED = "gpuwarden.dev/started";

    /** The host's folder for the evidence of failures. */
    private static final String STATE = "/var/lib/gpuwarden";

    /** The host's folder for the evidence from before a reboot. */
    static final String BUNDLES = STATE + "/bundles";

    private static final int KEEP_SECONDS = 86_400;

    /** The folder with a record of each resource that has acted. */
    private static final String RECORDS = STATE + "/maintenance";

    /**
     * Reboots a node whose boot is still the expected one, so that a container that starts twice reboots once. Evidence is collected
     * before, since a reboot that fails may leave no node to ask. Collecting takes minutes, so the gate is between it and the reboot.
     */
    private static final String REBOOT = """
            seen=$(cat /host/proc/sys/kernel/random/boot_id) || exit 3
            if [ "$seen" != "$BOOT_ID" ]; then
                echo "expected boot $BOOT_ID, seen $seen: the node has rebooted already"
                exit 0
            fi
            kept=$(timeout -k 5 150 gpuwarden bundle /host/var/lib/gpuwarden/bundles \\
                --name "reboot-$RESOURCE" --reset.bundle-timeout 60s 2>&1) ||
                kept="no evidence was kept (code $?): ${kept#gpuwarden: }"
            echo "$kept"
            gpuwarden maintenance-gate "$@" || exit $?
            exec chroot /host systemctl reboot$FORCE
            """;

    private Jobs() {}

    static ResourceKind kind(String namespace) {
        return new ResourceKind("batch", "v1", "jobs", "Job", Optional.of(namespace), Optional.empty());
    }

    /** Returns the Job of a resource. */
    static Map<String, Object> of(Maintenance resource, JanitorSettings settings) {
        Map<String, String> labels = Map.of(
                "app.kubernetes.io/managed-by",
                "gpuwarden",
                "app.kubernetes.io/name",
                "gpuwarden-janitor",
                Maintenance.OF,
                resource.uid());
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("suspend", true);
        spec.put("backoffLimit", 0);
        spec.put("activeDeadlineSeconds", settings.times().job().toSeconds());
        spec.put("ttlSecondsAfterFinished", KEEP_SECONDS);
        spec.put("template", Map.of("metadata", Map.of("labels", labels), "spec", spec(resource, settings)));
        return Map.of(
                "apiVersion",
                "batch/v1",
                "kind",
                "Job",
                "metadata",
                Map.of(
                        "name",
                        resource.jobName(),
                        "namespace",
                        settings.namespace(),
                        "labels",
                        labels,
                        "ownerReferences",
                        List.of(NodeLock.owner(resource))),
                "spec",
                spec);
    }

    private static Map<String, Object> spec(Maintenance resource, JanitorSettings settings) {
        return resource.kind() != MaintenanceKind.GPU_RESET
                        && settings.command().isPresent()
                ? CommandPod.of(resource, settings, settings.command().get())
                : pod(resource, settings);
    }

    /** The pod asks for no GPU and no runtime for GPUs, since both may fail on a broken GPU. */
    private static Map<String, Object> pod(Maintenance resource, JanitorSettings settings) {
        Map<String, Object> pod = new LinkedHashMap<>();
        pod.put("nodeName", resource.node());
        pod.put("restartPolicy", "Never");
        pod.put("hostPID", true);
        pod.put("serviceAccountName", JanitorSettings.JOB_ACCOUNT);
        pod.put("automountServiceAccountToken", false);
        pod.put("priorityClassName", "system-node-critical");
        pod.put("terminationGracePeriodSeconds", 30);
        pod.put("tolerations", List.of(Map.of("operator", "Exists")));
        pod.put("containers", List.of(container(resource, settings)));
        List<Map<String, Object>> volumes = new ArrayList<>();
        volumes.add(host("host", "/", "Directory"));
        if (resource.kind() == MaintenanceKind.GPU_RESET) {
            volumes.add(host("socket", "/run/gpuwarden", "DirectoryOrCreate"));
        }
        volumes.add(host("dev", "/dev", "Directory"));
        volumes.add(host("state", STATE, "DirectoryOrCreate"));
        volumes.add(GatePod.volume());
        pod.put("volumes", volumes);
        return pod;
    }

    private static Map<String, Object> container(Maintenance resource, JanitorSettings settings) {
        Map<String, Object> container = new LinkedHashMap<>();
        container.put("name", "action");
        container.put("image", settings.image());
        container.put("imagePullPolicy", "IfNotPresent");
        container.put("terminationMessagePolicy", "FallbackToLogsOnError");
        // The default is in /dev, which is the host's here.
        container.put("terminationMessagePath", "/termination-log");
        container.put("securityContext", Map.of("privileged", true, "runAsUser", 0, "runAsGroup", 0));
        container.put("resources", Map.of("requests", Map.of("cpu", "10m", "memory", "64Mi")));
        List<Map<String, Object>> env = new ArrayList<>();
        List<Map<String, Object>> mounts = new ArrayList<>();
        mounts.add(
                Map.of("name", "host", "mountPath", "/host", "readOnly", true, "mountPropagation", "HostToContainer"));
        mounts.add(Map.of("name", "dev", "mountPath", "/dev"));
        // Below /host, so that a program with the host as its root has it at its own place. The host itself is read
        // only.
        mounts.add(Map.of("name", "state", "mountPath", "/host" + STATE));
        mounts.add(GatePod.mount());
        List<String> gate = new ArrayList<>(GatePod.args(resource, settings));
        gate.add("--maintenance.record=/host" + RECORDS);
        if (resource.kind() == MaintenanceKind.GPU_RESET) {
            List<String> args =
                    new ArrayList<>(List.of("gpu-reset", "--arm", "--output=json", "--reset.bundle=/host" + BUNDLES));
            args.addAll(gate);
            args.addAll(resource.uuids());
            container.put("args", args);
            env.add(Map.of("name", "NODE_NAME", "value", resource.node()));
            env.add(Map.of("name", "NVIDIA_VISIBLE_DEVICES", "value", "void"));
            // Without it a process that holds a GPU has the UID of its pod alone.
            env.add(Map.of("name", "GPUWARDEN_PATH_PODLOGS", "value", "/host/var/log/pods"));
            mounts.add(Map.of("name", "socket", "mountPath", "/run/gpuwarden"));
        } else {
            List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", REBOOT, "reboot"));
            command.addAll(gate);
            container.put("command", command);
            env.add(Map.of("name", "BOOT_ID", "value", resource.progress().bootId()));
            env.add(Map.of("name", "RESOURCE", "value", resource.uid()));
            env.add(Map.of("name", "FORCE", "value", resource.force() ? " --force" : ""));
        }
        container.put("env", env);
        container.put("volumeMounts", mounts);
        return container;
    }

    private static Map<String, Object> host(String name, String path, String type) {
        return Map.of("name", name, "hostPath", Map.of("path", path, "type", type));
    }
}
