package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.sim.Tree;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes cluster on this machine: a control plane, and real nodes with simulated GPUs that run pods. Needs root. The image
 * `localhost/busybox:1` is on every node. Pods and the API server reach Services by their ClusterIPs, this machine does not; there
 * is no DNS.
 *
 * <p>Thread-safe. All processes end with {@link #close()}, and with this Java process, even when it is killed.
 */
public final class Cluster implements AutoCloseable {

    private static @Nullable Cluster shared;

    private final Path folder;
    private final List<ClusterNode> nodes = new ArrayList<>();
    private @Nullable Network network;
    private @Nullable ControlPlane plane;
    private @Nullable ServiceProxy services;

    private Cluster(Path folder) {
        this.folder = folder;
    }

    /** Describes the missing requirements of a cluster and the way to get them; empty when it can be started. */
    public static Optional<String> missing() {
        return NodeNeeds.missing(Binaries.ofUser());
    }

    /**
     * Returns the cluster that all tests of this Java process share: `node-1` and `node-2` with eight H100 each. The first call
     * starts it; it ends with the process, so no test closes it. Tests must use names of their own, and leave no pods and no
     * changed GPUs behind.
     *
     * @throws UserError and IllegalStateException as {@link #start(Path, List)} does
     */
    public static synchronized Cluster shared() {
        Cluster now = shared;
        if (now == null) {
            now = Unchecked.get(
                    () -> start(Files.createTempDirectory("gpuwarden-shared-"), List.of("h100x8", "h100x8")));
            shared = now;
        }
        return now;
    }

    /**
     * Starts a cluster for tests: kubelets are {@link KubeletPace#FAST}. Blocks until all nodes are Ready.
     *
     * @param folder for all its files: empty, or does not exist yet; {@link #close()} deletes it
     * @param scenarios of the simulated GPUs, one for each node: names from `sim list`, or paths
     * @throws UserError with the text of {@link #missing()}, unless that is empty
     * @throws IllegalStateException when a program ends at start or a node does not become Ready, with the ends of logs
     */
    public static Cluster start(Path folder, List<String> scenarios) {
        return start(folder, scenarios, KubeletPace.FAST, part -> {});
    }

    /** Starts a cluster as {@link #start(Path, List)} does; reports each component that is ready, in this thread. */
    public static Cluster start(Path folder, List<String> scenarios, KubeletPace pace, Consumer<String> ready) {
        missing().ifPresent(message -> {
            throw new UserError(message);
        });
        if (scenarios.size() > Network.MOST_NODES) {
            throw new UserError("expected at most " + Network.MOST_NODES + " nodes, seen " + scenarios.size());
        }
        Cluster cluster = new Cluster(folder.toAbsolutePath().normalize());
        Folder.claim(cluster.folder);
        try {
            cluster.start(scenarios, pace, ready);
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    private void start(List<String> scenarios, KubeletPace pace, Consumer<String> ready) {
        Binaries binaries = Binaries.ofUser();
        Network network = Network.start(folder);
        this.network = network;
        ControlPlane plane =
                ControlPlane.start(folder.resolve("control-plane"), binaries, network.middle(), Component.values());
        this.plane = plane;
        ready.accept("control plane");
        Path image = folder.resolve("busybox.tar");
        Shell.run("node/busybox-image.sh", NodeNeeds.BUSYBOX.toString(), image.toString());
        for (int k = 1; k <= scenarios.size(); k++) {
            Path of = folder(k);
            nodes.add(ClusterNode.start(of, k, scenarios.get(k - 1), pace, binaries, network, plane, image));
        }
        for (ClusterNode node : nodes) {
            node.awaitReady(plane);
            ready.accept(node.name());
        }
        // Started last: it waits half a minute for a node that does not exist yet.
        services = ServiceProxy.start(
                folder.resolve("services"), binaries, network.middle(), plane.proxyKubeconfig(), "node-1");
    }

    private Path folder(int k) {
        return Unchecked.get(() -> Files.createDirectories(folder.resolve("node-" + k)));
    }

    public ControlPlane controlPlane() {
        ControlPlane plane = this.plane;
        if (plane == null) {
            throw new IllegalStateException("expected a control plane, the cluster did not start");
        }
        return plane;
    }

    /** Calls back with the name of each program of the control plane that ends, by {@link #close()} too, in another thread. */
    public void whenControlPlaneEnds(Consumer<String> listener) {
        controlPlane().whenPartEnds(listener);
    }

    /** Returns the nodes in order of their names: `node-1`, `node-2`, … */
    public List<ClusterNode> nodes() {
        return List.copyOf(nodes);
    }

    /** Switches the nodes off, ends the control plane, deletes the folder. */
    @Override
    public synchronized void close() {
        try {
            nodes.parallelStream().forEach(ClusterNode::close);
        } finally {
            if (services != null) {
                services.close();
            }
            if (plane != null) {
                plane.close();
            }
            if (network != null) {
                network.close();
            }
        }
        Tree.delete(folder);
    }

    /** The requirements of real nodes on this machine. */
    static final class NodeNeeds {

        static final Path CGROUPS = Path.of("/sys/fs/cgroup");
        static final Path BUSYBOX = Path.of("/bin/busybox");

        /** An ELF header of a program with a dynamic loader names it on its first page. */
        private static final int FIRST_PAGE = 4_096;

        /** Debian's packages, by files that they install. */
        private static final Map<String, List<String>> PACKAGES = new TreeMap<>(Map.of(
                "containernetworking-plugins", List.of("/usr/lib/cni/ptp"),
                "nftables", List.of("/usr/sbin/nft", "/sbin/nft"),
                "iproute2", List.of("/sbin/ip", "/usr/sbin/ip"),
                "runc", List.of("/usr/sbin/runc", "/usr/bin/runc"),
                "util-linux", List.of("/usr/bin/unshare")));

        private NodeNeeds() {}

        /** Returns a sentence with all missing requirements; empty when nodes can run here. */
        static Optional<String> missing(Binaries binaries) {
            List<String> missing = new ArrayList<>();
            if (!"root".equals(System.getProperty("user.name"))) {
                missing.add(
                        "a node's namespaces and cgroups need root, this is user " + System.getProperty("user.name"));
            }
            if (cgroups().noneMatch(Files::isWritable)) {
                missing.add("no cgroup hierarchy below " + CGROUPS + " that can be written");
            }
            List<String> packages = new ArrayList<>(PACKAGES.entrySet().stream()
                    .filter(entry -> entry.getValue().stream().map(Path::of).noneMatch(Files::isExecutable))
                    .map(Map.Entry::getKey)
                    .toList());
            if (!isStatic(BUSYBOX)) {
                packages.add("busybox-static");
            }
            if (!packages.isEmpty()) {
                String names = String.join(" ", packages);
                missing.add("no " + names + " (Debian: apt-get install --no-install-recommends " + names + ")");
            }
            binaries.missingForNodes().ifPresent(missing::add);
            return missing.isEmpty()
                    ? Optional.empty()
                    : Optional.of(missing.stream().collect(Collectors.joining("; ")));
        }

        private static Stream<Path> cgroups() {
            return Stream.of(CGROUPS.resolve("cgroup.procs"), CGROUPS.resolve("memory/cgroup.procs"));
        }

        private static boolean isStatic(Path program) {
            if (!Files.isExecutable(program)) {
                return false;
            }
            try (InputStream in = Files.newInputStream(program)) {
                return !new String(in.readNBytes(FIRST_PAGE), StandardCharsets.ISO_8859_1).contains("/ld-linux");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
