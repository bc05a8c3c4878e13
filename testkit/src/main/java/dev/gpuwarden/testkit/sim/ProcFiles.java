package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.ProcessOwner;
import dev.gpuwarden.testkit.scenario.SimProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/** The node's stand-in for /proc, and the kubelet's log folders of the pods that its processes are in. */
final class ProcFiles {

    /** How long the node is up when it starts. */
    static final Duration UPTIME = Duration.ofDays(30);

    private static final long TICKS_PER_SECOND = 100;
    /** The initial PID namespace (linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final Path INITIAL_NAMESPACE = Path.of("pid:[4026531836]");

    private final Path proc;
    private final Path pods;

    ProcFiles(NodeFolder folder) {
        proc = folder.proc();
        pods = folder.pods();
    }

    /** The files that are there without any process, and init. */
    void boot(Instant now) {
        long booted = now.minus(UPTIME).getEpochSecond();
        Tree.write(proc.resolve("stat"), "cpu  0 0 0 0 0 0 0 0 0 0\nbtime " + booted + "\nprocesses 1\n");
        Tree.write(proc.resolve("uptime"), UPTIME.toSeconds() + ".00 " + UPTIME.toSeconds() + ".00\n");
        Tree.folder(pods);
        write(1, "systemd", "/sbin/init", 0, "0::/init.scope\n");
    }

    /** A process that began `startedAgo` before the node did. */
    void start(SimProcess process) {
        if (process.inProc()) {
            long ticks = UPTIME.minus(process.startedAgo()).toMillis() * TICKS_PER_SECOND / 1000;
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
        Tree.link(folder.resolve("ns/pid"), INITIAL_NAMESPACE);
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

    void stop(int pid) {
        Tree.delete(proc.resolve(Integer.toString(pid)));
    }
}
