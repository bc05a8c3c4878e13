package dev.gpuwarden.testkit.scenario;

/** The owner of a process, as /proc/PID/cgroup shows it. */
public sealed interface ProcessOwner {

    /** Returns a short description for tables. */
    default String text() {
        if (this instanceof Pod pod) {
            return "pod " + pod.namespace() + "/" + pod.name() + " container " + pod.container();
        } else if (this instanceof Container container) {
            return container.runtime().name().toLowerCase(java.util.Locale.ROOT) + " container "
                    + container.containerId().substring(0, 12);
        } else if (this instanceof Unit unit) {
            return "unit " + unit.name();
        } else if (this instanceof SlurmJob job) {
            return "slurm job " + job.job() + " step " + job.step();
        }
        return "cgroup " + ((Raw) this).text().strip();
    }

    /**
     * @param uid 36 characters, or 32 hexadecimal digits for a static pod
     * @param logs true when the kubelet's log folder names the pod
     */
    record Pod(
            String namespace,
            String name,
            String uid,
            String container,
            String containerId,
            CgroupVersion version,
            CgroupDriver driver,
            Runtime runtime,
            Qos qos,
            boolean logs)
            implements ProcessOwner {}

    /** A container without a pod. */
    record Container(Runtime runtime, String containerId, CgroupVersion version, CgroupDriver driver)
            implements ProcessOwner {}

    record Unit(String name, String slice, CgroupVersion version) implements ProcessOwner {}

    record SlurmJob(int job, String step, int user, CgroupVersion version) implements ProcessOwner {}

    /** The whole text of the cgroup file. */
    record Raw(String text) implements ProcessOwner {}

    /** Version of the cgroup file system. */
    enum CgroupVersion {
        V1,
        V2
    }

    /** The creator of the pods' cgroups. */
    enum CgroupDriver {
        SYSTEMD,
        CGROUPFS
    }

    /** Container runtimes. */
    enum Runtime {
        CONTAINERD,
        CRIO,
        DOCKER,
        PODMAN
    }

    /** Quality of service of a pod. */
    enum Qos {
        GUARANTEED,
        BURSTABLE,
        BESTEFFORT
    }
}
