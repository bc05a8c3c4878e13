package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.ProcessOwner;
import dev.gpuwarden.testkit.scenario.ProcessOwner.CgroupDriver;
import dev.gpuwarden.testkit.scenario.ProcessOwner.CgroupVersion;
import dev.gpuwarden.testkit.scenario.ProcessOwner.Qos;
import java.util.Locale;

/** The text of /proc/PID/cgroup of a process, derived from its owner. */
final class CgroupFile {

    private CgroupFile() {}

    static String of(ProcessOwner owner) {
        if (owner instanceof ProcessOwner.Pod pod) {
            return lines(pod.version(), podPath(pod));
        } else if (owner instanceof ProcessOwner.Container container) {
            return lines(container.version(), containerPath(container));
        } else if (owner instanceof ProcessOwner.Unit unit) {
            return lines(unit.version(), "/" + unit.slice() + "/" + unit.name());
        } else if (owner instanceof ProcessOwner.SlurmJob job) {
            return lines(job.version(), slurmPath(job));
        }
        return ((ProcessOwner.Raw) owner).text();
    }

    /** Returns one line for v2; for v1 one per controller, in the kernel's order, systemd's own hierarchy last. */
    private static String lines(CgroupVersion version, String path) {
        if (version == CgroupVersion.V2) {
            return "0::" + path + "\n";
        }
        StringBuilder lines = new StringBuilder();
        String[] controllers = {"memory", "devices", "cpu,cpuacct", "cpuset", "pids", "name=systemd"};
        for (int i = 0; i < controllers.length; i++) {
            lines.append(controllers.length - i)
                    .append(':')
                    .append(controllers[i])
                    .append(':')
                    .append(path)
                    .append('\n');
        }
        return lines.toString();
    }

    private static String podPath(ProcessOwner.Pod pod) {
        String qos = pod.qos().name().toLowerCase(Locale.ROOT);
        boolean guaranteed = pod.qos() == Qos.GUARANTEED;
        if (pod.driver() == CgroupDriver.CGROUPFS) {
            String level = guaranteed ? "" : "/" + qos;
            String prefix = pod.runtime() == ProcessOwner.Runtime.CRIO ? "crio-" : "";
            return "/kubepods" + level + "/pod" + pod.uid() + "/" + prefix + pod.containerId();
        }
        String slice = guaranteed ? "kubepods" : "kubepods-" + qos;
        String level = guaranteed ? "" : "/" + slice + ".slice";
        String uid = pod.uid().replace('-', '_');
        return "/kubepods.slice" + level + "/" + slice + "-pod" + uid + ".slice/" + scope(pod.runtime()) + "-"
                + pod.containerId() + ".scope";
    }

    private static String scope(ProcessOwner.Runtime runtime) {
        return switch (runtime) {
            case CONTAINERD -> "cri-containerd";
            case CRIO -> "crio";
            case DOCKER -> "docker";
            case PODMAN -> "libpod";
        };
    }

    private static String containerPath(ProcessOwner.Container container) {
        boolean podman = container.runtime() == ProcessOwner.Runtime.PODMAN;
        if (container.driver() == CgroupDriver.CGROUPFS) {
            return (podman ? "/libpod_parent/libpod-" : "/docker/") + container.containerId();
        }
        return (podman ? "/machine.slice/" : "/system.slice/") + scope(container.runtime()) + "-"
                + container.containerId() + ".scope";
    }

    private static String slurmPath(ProcessOwner.SlurmJob job) {
        String base = job.version() == CgroupVersion.V2 ? "/system.slice/slurmstepd.scope" : "/slurm/uid_" + job.user();
        return base + "/job_" + job.job() + "/step_" + job.step() + "/user/task_0";
    }
}
