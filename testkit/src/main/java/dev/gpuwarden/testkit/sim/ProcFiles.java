package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.ProcessOwner;
import dev.gpuwarden.testkit.scenario.ProcessOwner.CgroupDriver;
import dev.gpuwarden.testkit.scenario.ProcessOwner.CgroupVersion;
import dev.gpuwarden.testkit.scenario.ProcessOwner.Qos;
import dev.gpuwarden.testkit.scenario.SimProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;

/** The node's /proc, and the kubelet's log folders of the pods of its processes. */
final class ProcFiles {

    /** Uptime of a node at its start. */
    static final Duration UPTIME = Duration.ofDays(30);

    private static final long TICKS_PER_SECOND = 100;
    /** The namespace of the program that starts the node. The first process has it, so that others can compare theirs. */
    private static final Path OWN_NAMESPACE = Path.of("/proc/self/ns/pid");

    /** The initial PID namespace (linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final Path INITIAL_NAMESPACE = Path.of("pid:[4026531836]");

    private final Path proc;
    private final Path pods;

    ProcFiles(NodeFolder folder) {
        proc = folder.proc;
        pods = folder.pods;
    }

    /** Writes the files that exist without any process, and init. */
    synchronized void boot(Instant now, Duration uptime) {
        // A whole second, so that btime is exact.
        long booted = now.minus(uptime).getEpochSecond();
        Tree.write(proc.resolve("stat"), "cpu  0 0 0 0 0 0 0 0 0 0\nbtime " + booted + "\nprocesses 1\n");
        Tree.write(proc.resolve("sys/kernel/random/boot_id"), UUID.randomUUID().toString() + "\n");
        uptime(now);
        Tree.folder(pods);
        write(1, "systemd", "/sbin/init", 0, "0::/init.scope\n");
        Path namespace = proc.resolve("1/ns/pid");
        // A node of a cluster has set it, and keeps it in each boot.
        if (!Files.isSymbolicLink(namespace)) {
            Tree.link(namespace, Unchecked.get(() -> Files.readSymbolicLink(OWN_NAMESPACE)));
        }
    }

    /** Writes the present uptime: no file changes by itself, so a running node writes it again and again. */
    synchronized void uptime(Instant now) {
        String seconds = String.format(Locale.ROOT, "%.2f", millisSinceBoot(now) / 1000.0);
        Tree.replace(proc.resolve("uptime"), seconds + " " + seconds + "\n");
    }

    /** Returns the time of the boot from /proc/stat. */
    Instant booted() {
        return Tree.read(proc.resolve("stat"))
                .lines()
                .filter(line -> line.startsWith("btime "))
                .findFirst()
                .map(line -> Instant.ofEpochSecond(Long.parseLong(line.substring("btime ".length()))))
                .orElseThrow();
    }

    private long millisSinceBoot(Instant now) {
        return Duration.between(booted(), now).toMillis();
    }

    /** Adds a process that started `startedAgo` before now. */
    void start(SimProcess process, Instant now) {
        if (process.inProc()) {
            long ticks = millisSinceBoot(now.minus(process.startedAgo())) * TICKS_PER_SECOND / 1000;
            String command = process.command();
            String name = command.substring(command.lastIndexOf('/') + 1);
            String comm = name.substring(0, Math.min(15, name.length()));
            write(process.pid(), comm, command, Math.max(0, ticks), CgroupFile.of(process.owner()));
        }
        if (process.owner() instanceof ProcessOwner.Pod pod && pod.logs()) {
            Tree.write(
                    pods.resolve(pod.namespace() + "_" + pod.name() + "_" + pod.uid())
                            .resolve(pod.container())
                            .resolve("0.log"),
                    "");
        }
    }

    private void write(int pid, String comm, String command, long startTicks, String cgroup) {
        Path folder = proc.resolve(Integer.toString(pid));
        Tree.write(folder.resolve("comm"), comm + "\n");
        Tree.write(folder.resolve("cmdline"), command + "\0");
        Tree.write(folder.resolve("cgroup"), cgroup);
        Tree.write(folder.resolve("status"), status(pid, comm));
        if (pid != 1) {
            Tree.link(folder.resolve("ns/pid"), INITIAL_NAMESPACE);
        }
        // proc_pid_stat(5): the name is the second field, the start time the twenty-second.
        Tree.write(
                folder.resolve("stat"),
                pid + " (" + comm + ") S 1 " + pid + " " + pid + " 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 " + startTicks
                        + " 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    }

    private static String status(int pid, String comm) {
        return "Name:\t" + comm + "\nState:\tS (sleeping)\nTgid:\t" + pid + "\nPid:\t" + pid
                + "\nPPid:\t1\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNSpid:\t" + pid + "\nThreads:\t1\n";
    }

    /** Removes every process but init. */
    void stopAll() {
        for (Path process : Tree.children(proc)) {
            String name = String.valueOf(process.getFileName());
            if (name.matches("\\d+") && !name.equals("1")) {
                Tree.delete(process);
            }
        }
    }

    void stop(int pid) {
        Tree.delete(proc.resolve(Integer.toString(pid)));
    }

    /** The text of /proc/PID/cgroup of a process, derived from its owner. */
    static final class CgroupFile {

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
            String base =
                    job.version() == CgroupVersion.V2 ? "/system.slice/slurmstepd.scope" : "/slurm/uid_" + job.user();
            return base + "/job_" + job.job() + "/step_" + job.step() + "/user/task_0";
        }
    }
}
