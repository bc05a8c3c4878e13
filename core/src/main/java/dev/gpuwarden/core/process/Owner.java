package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Reading;

/**
 * The owner of a process, according to its cgroup. Names come from the node and may be hostile: escape them before
 * printing.
 */
public sealed interface Owner {

    /**
     * A Kubernetes pod.
     *
     * @param uid 36 characters with dashes; for static pods the 32-digit hash of their manifest
     * @param namespace absent where nothing on the node names the pod
     * @param name absent where nothing on the node names the pod
     * @param container absent where nothing on the node names the container
     * @param containerId 64 hexadecimal digits, absent for the pod's own sandbox cgroup
     */
    record Pod(
            String uid,
            Reading<String> namespace,
            Reading<String> name,
            Reading<String> container,
            Reading<String> containerId)
            implements Owner {}

    /**
     * A container without a pod.
     *
     * @param runtime "docker", "podman", "containerd", "cri-o" or "unknown"; with "rootless-" before it in the cgroups of a
     *     user, who chooses names and IDs there
     */
    record Container(String runtime, String containerId) implements Owner {}

    /** A systemd unit, for example "jupyter.service" or "session-3.scope". */
    record Unit(String name) implements Owner {}

    /** A Slurm job. */
    record SlurmJob(String jobId, String step) implements Owner {}

    /** An unknown owner; the cause gives the reason: process gone, no permission, foreign PID namespace. */
    record Unknown(String cause) implements Owner {}
}
