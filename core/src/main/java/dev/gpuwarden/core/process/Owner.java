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
     * @param runtime "docker", "podman", "containerd", "cri-o", "ecs", "garden" or "unknown"; with "rootless-" before it in the
     *     cgroups of a user, who chooses names and IDs there
     * @param containerId 64 hexadecimal digits, or a name where the engine uses names
     */
    record Container(String runtime, String containerId) implements Owner {

        /** Returns whether it is in the cgroups of a user, who chooses its ID. */
        public boolean ofUser() {
            return runtime.startsWith("rootless-");
        }
    }

    /** A systemd unit, for example "jupyter.service" or "session-3.scope". */
    record Unit(String name) implements Owner {}

    /** A Slurm job. */
    record SlurmJob(String jobId, String step) implements Owner {}

    /**
     * A job of a batch system other than Slurm. gpuwarden cannot end it.
     *
     * @param system "lsf", "pbs" or "htcondor"
     * @param jobId as the system writes it; HTCondor's cgroups have the slot alone
     */
    record BatchJob(String system, String jobId) implements Owner {}

    /**
     * A guest with an init of its own, or a virtual machine. Its root chooses all names within it, so none of them is read.
     * gpuwarden cannot restart it.
     *
     * @param type "lxc" (also of LXD, Incus and Proxmox), "libvirt-lxc", "nspawn", "qemu", or "machine" for another one that
     *     systemd-machined has registered
     */
    record Guest(String type, String name) implements Owner {

        /** Returns the name for operators, such as "LXC container ct1". */
        public String text() {
            return switch (type) {
                        case "lxc", "libvirt-lxc" -> "LXC container ";
                        case "nspawn" -> "nspawn container ";
                        case "qemu" -> "virtual machine ";
                        default -> "machine ";
                    }
                    + name;
        }
    }

    /** An unknown owner; the cause gives the reason: process gone, no permission, foreign PID namespace. */
    record Unknown(String cause) implements Owner {}
}
