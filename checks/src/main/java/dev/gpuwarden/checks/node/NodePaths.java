package dev.gpuwarden.checks.node;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The paths of the node's own trees. They differ from the usual ones when this program runs in a container. */
public final class NodePaths {

    @Option(
            names = "--path.procfs",
            defaultValue = "/proc",
            paramLabel = "DIR",
            description = "The node's /proc (default: ${DEFAULT-VALUE}).")
    Path procfs = Path.of("/proc");

    @Option(
            names = "--path.sysfs",
            defaultValue = "/sys",
            paramLabel = "DIR",
            description = "The node's /sys (default: ${DEFAULT-VALUE}).")
    Path sysfs = Path.of("/sys");

    @Option(
            names = "--path.podlogs",
            defaultValue = "/var/log/pods",
            paramLabel = "DIR",
            description = "The kubelet's folder of pod logs, whose names map UIDs to pods (default: ${DEFAULT-VALUE}).")
    Path podLogs = Path.of("/var/log/pods");

    @Option(
            names = "--path.pod-resources",
            defaultValue = "/var/lib/kubelet/pod-resources/kubelet.sock",
            paramLabel = "FILE",
            description =
                    "The kubelet's PodResources socket, which lists the GPUs of each pod (default: ${DEFAULT-VALUE}).")
    Path podResources = Path.of("/var/lib/kubelet/pod-resources/kubelet.sock");

    @Option(
            names = "--path.devices",
            defaultValue = "/dev",
            paramLabel = "DIR",
            description = "The node's /dev, which has the files of its GPUs (default: ${DEFAULT-VALUE}).")
    Path devices = Path.of("/dev");

    /** For tests and for commands without options. */
    public static NodePaths of(Path procfs, Path sysfs, Path podLogs) {
        NodePaths paths = new NodePaths();
        paths.procfs = procfs;
        paths.sysfs = sysfs;
        paths.podLogs = podLogs;
        return paths;
    }

    /** For tests with files of GPUs. */
    public static NodePaths of(Path procfs, Path sysfs, Path podLogs, Path devices) {
        NodePaths paths = of(procfs, sysfs, podLogs);
        paths.devices = devices;
        return paths;
    }

    /** Returns the same paths with another socket of the kubelet. */
    public NodePaths withPodResources(Path socket) {
        NodePaths paths = of(procfs, sysfs, podLogs);
        paths.podResources = socket;
        return paths;
    }

    public Path procfs() {
        return procfs;
    }

    public Path sysfs() {
        return sysfs;
    }

    public Path podLogs() {
        return podLogs;
    }

    public Path devices() {
        return devices;
    }

    public Path podResources() {
        return podResources;
    }
}
