package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.Cluster.NodeNeeds;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

/**
 * A real node of a cluster on this machine, with simulated GPUs: own kubelet, own containerd, own kube-proxy, own namespaces
 * for processes, mounts, network and name, own cgroups. On it, and so for hostPath volumes, /run/simulated-gpus holds the folders `lib`,
 * `proc`, `sys`, `pods`, `dev` and `bin` of the {@link SimulatedNode}. Pods ask for GPUs as `nvidia.com/gpu`; {@link DevicePlugin}
 * describes what a container gets.
 *
 * <p>Thread-safe.
 */
public final class ClusterNode implements AutoCloseable {

    /** Limit of a start, which takes 10 s on an idle machine with one node. */
    private static final Duration STARTING = Duration.ofMinutes(5);

    /** The file with the name of its cgroups, for the process that cleans up after a node that was killed. */
    private static final String CGROUP = "cgroup";

    private final String name;
    private final Path folder;
    private final Path containerd;
    private final SimulatedNode gpus;
    private final NodePower power;

    private ClusterNode(String name, Path folder, Path containerd, SimulatedNode gpus, NodePower power) {
        this.name = name;
        this.folder = folder;
        this.containerd = containerd;
        this.gpus = gpus;
        this.power = power;
    }

    /** Starts a node; does not wait until it is Ready. */
    static ClusterNode start(
            Path folder,
            int k,
            String scenario,
            KubeletPace pace,
            Binaries binaries,
            Network network,
            ControlPlane plane,
            Path image) {
        String name = "node-" + k;
        String cgroup = "gpuwarden-" + network.number() + "-" + name;
        Path containerd = binaries.path(Binaries.containerd());
        Unchecked.run(() -> {
            Path conf = Files.createDirectories(folder.resolve("conf"));
            write(conf.resolve("containerd.toml"), Resource.text("cluster/node/containerd.toml"));
            write(
                    conf.resolve("cni/10-pods.conflist"),
                    Resource.text("cluster/node/network.json").replace("SUBNET", network.pods(k)));
            write(folder.resolve(CGROUP), cgroup);
            Files.copy(plane.caCertificate(), conf.resolve("ca.crt"));
            write(conf.resolve("kubeconfig"), plane.nodeKubeconfig(name));
            write(conf.resolve("proxy.kubeconfig"), plane.proxyKubeconfig());
            write(conf.resolve("kube-proxy.yaml"), ServiceProxy.configuration("/run/node/conf/proxy.kubeconfig", name));
            write(conf.resolve("kubelet.yaml"), pace.configuration("/" + cgroup));
            Path images = Files.createDirectories(folder.resolve("images"));
            Files.createLink(images.resolve(image.getFileName()), image);
            Path systemctl = folder.resolve("programs/systemctl");
            write(systemctl, Resource.text("cluster/node/systemctl.sh"));
            Files.setPosixFilePermissions(systemctl, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.createSymbolicLink(systemctl.resolveSibling("reboot"), Path.of("systemctl"));
        });
        SimulatedNode gpus = SimulatedNode.start(scenario, folder.resolve("gpus"));
        try {
            var machine = new NodeBoot.Machine(folder, k, cgroup, gpus, binaries, network);
            return new ClusterNode(name, folder, containerd, gpus, NodePower.on(machine));
        } catch (RuntimeException | Error e) {
            gpus.close();
            throw e;
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** Blocks until the API server reports the node as Ready. */
    void awaitReady(ControlPlane plane) {
        String limit = "--timeout=" + STARTING.toSeconds() + "s";
        try {
            plane.kubectl("wait", "--for=create", "node/" + name, limit);
            plane.kubectl("wait", "--for=condition=Ready", "node/" + name, limit);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    name + ": expected it to be Ready; the ends of its logs:\n"
                            + Program.tail(folder.resolve("node.log"))
                            + "\n" + Program.tail(folder.resolve("containerd.log")) + "\n"
                            + Program.tail(folder.resolve("kubelet.log")),
                    e);
        }
    }

    /** Returns its name in the API server, for example `node-1`. */
    public String name() {
        return name;
    }

    /** Returns its simulated GPUs, kernel log and files. */
    public SimulatedNode gpus() {
        return gpus;
    }

    /** Returns the socket of its kubelet's PodResources service, as a path of this machine. */
    public Path podResources() {
        return folder.resolve("var/lib/kubelet/pod-resources/kubelet.sock");
    }

    /**
     * Loads the images of an archive of `docker save`, or of an OCI layout; blocks until they are loaded. Pods that use them
     * need `imagePullPolicy: Never` or `IfNotPresent`.
     */
    public void load(Path archive) {
        Shell.run(
                "node/load.sh",
                containerd.resolve("ctr").toString(),
                folder.resolve("run/containerd/containerd.sock").toString(),
                archive.toAbsolutePath().toString());
    }

    /**
     * Restarts it as by its button: its first process ends, and with it pods, kubelet and their sockets; it comes back with another
     * boot id, and its GPUs without what a restart heals. Blocks until its first process runs again, which is seconds before the node is
     * Ready. Pods do the same by the node's own `systemctl reboot`, for example with `chroot /host` and hostPath `/`.
     */
    public void reboot() {
        power.restart();
    }

    /**
     * Sets the result of its restarts, from the next one on. At the start it comes back after no time.
     *
     * @param off time between the end of its last process and the start of its first one
     */
    public void rebootsLike(Restart restart, Duration off) {
        power.restartsLike(restart, off);
    }

    /** Returns the number of times that its first process has been started, 1 before any restart. */
    public int boots() {
        return power.boots();
    }

    /** Returns true while its first process lives. */
    public boolean running() {
        return power.running();
    }

    /** Returns its boot id, as its kubelet and a daemon on it report it. */
    public String bootId() {
        return Unchecked.get(() -> Files.readString(gpus.procfs().resolve("sys/kernel/random/boot_id")))
                .strip();
    }

    /** Switches it off like a power cut, and deletes the files of its GPUs. */
    @Override
    public void close() {
        power.close();
        gpus.close();
    }

    /** Removes the cgroups of a node that has ended. */
    static void removeCgroups(Path folder) {
        Unchecked.run(() -> {
            Path note = folder.resolve(CGROUP);
            if (Files.exists(note)) {
                Shell.run("node/remove-cgroups.sh", Files.readString(note), NodeNeeds.CGROUPS.toString());
            }
        });
    }
}
