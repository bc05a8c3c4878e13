package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** What a demo does to a cluster, and what it sees there. */
final class ClusterDemoEnvironment implements AutoCloseable {

    private final Cluster cluster;
    private final ClusterPace pace;
    private final Path image;
    private final Consumer<String> log;
    private final ClusterShell shell;
    private final ClusterPage page;

    /** The GPU of node-1 that something was done to last. */
    private int touched;

    /** @param image the runtime image of this program */
    ClusterDemoEnvironment(Cluster cluster, ClusterPace pace, Path image, Consumer<String> log) {
        this.cluster = cluster;
        this.pace = pace;
        this.image = image;
        this.log = log;
        this.shell = new ClusterShell(image, cluster.controlPlane());
        this.page = new ClusterPage(cluster.controlPlane());
    }

    /** The runtime image that this program runs from; it has what is installed. */
    static Path image() {
        Path home = Path.of(System.getProperty("gpuwarden.home", ""));
        if (!Files.isExecutable(home.resolve("bin/gpuwarden-image-archive"))) {
            throw new UserError(
                    "expected to run from the runtime image, which has what is installed: ./gpuwarden demo cluster");
        }
        return home;
    }

    ClusterPace pace() {
        return pace;
    }

    // ---- what is installed ----

    /** Gives the nodes a container image of this program. */
    void loadImage() {
        try {
            Path archive = Files.createTempFile("gpuwarden-image-", ".tar");
            // For the case of a signal.
            archive.toFile().deleteOnExit();
            try {
                loadImage(archive);
            } finally {
                Files.delete(archive);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void loadImage(Path archive) {
        long start = System.nanoTime();
        String made = shell.run("gpuwarden-image-archive --output " + archive);
        log.accept("made     " + seconds(start) + "  " + made.strip());
        start = System.nanoTime();
        cluster.nodes().parallelStream().forEach(node -> node.load(archive));
        log.accept("loaded   " + seconds(start) + "  by " + cluster.nodes().size() + " nodes");
    }

    /** A line of shell, told as it is typed. A file of this program's is named by its place in `share`. */
    void run(String line) {
        log.accept("$ " + line);
        shell.run("cd '" + image.resolve("share") + "' && " + line);
    }

    /** Where the pace has settings for the daemons. */
    void applySettings() {
        if (!pace.daemonSettings().isEmpty()) {
            apply(pace.daemonSettings());
        }
    }

    /** Has the cluster make what a file beside this class describes. */
    void apply(String file) {
        log.accept("$ kubectl apply --filename " + file);
        try (InputStream in = ClusterDemoEnvironment.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(
                        "expected the resource " + file + " beside " + ClusterDemoEnvironment.class);
            }
            cluster.controlPlane().apply(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- what becomes of GPUs ----

    /** To a GPU of node-1 that a program holds, as its container was told. */
    void setGpuOf(String program, String... changes) {
        String held = shell.run("kubectl exec deployment/" + program + " -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES'")
                .strip()
                .split(",", -1)[0];
        List<String> uuids = cluster.nodes().get(0).gpus().control().gpus().stream()
                .map(NodeControl.Gpu::uuid)
                .toList();
        touched = uuids.indexOf(held);
        setSame(changes);
    }

    /** To the GPU of node-1 that something was done to last. */
    void setSame(String... changes) {
        set("node-1", touched, changes);
    }

    /** @param changes as in `xid=79` */
    void set(String node, int gpu, String... changes) {
        ClusterNode its = cluster.nodes().stream()
                .filter(one -> one.name().equals(node))
                .findFirst()
                .orElseThrow();
        for (String change : changes) {
            int sign = change.indexOf('=');
            its.gpus().set("gpu." + gpu + "." + change.substring(0, sign), change.substring(sign + 1));
        }
    }

    // ---- what is seen ----

    /** What a {@link ClusterDemoCheck} shows now. */
    String output(String command) {
        if (!command.startsWith(ClusterDemoCheck.PAGE)) {
            return shell.output(command);
        }
        String node = command.substring(ClusterDemoCheck.PAGE.length());
        return node.isEmpty() ? page.door() : page.of(node);
    }

    /** What helps to see why something did not happen. */
    String state() {
        StringBuilder all = new StringBuilder();
        for (String line : List.of(
                "kubectl get pods --all-namespaces --output wide",
                "kubectl get events --all-namespaces --field-selector type=Warning | tail -40",
                "kubectl logs --namespace gpuwarden deployment/gpuwarden-aggregator --all-pods --tail 20 | cut -c1-1000",
                "kubectl logs --namespace gpuwarden daemonset/gpuwarden --all-pods --tail 20 | cut -c1-1000")) {
            all.append("$ ").append(line).append('\n');
            all.append(shell.output("exec 2>&1; " + line));
        }
        return all.toString();
    }

    static String seconds(long since) {
        return String.format(Locale.ROOT, "%5.1f s", (System.nanoTime() - since) / 1e9);
    }

    @Override
    public void close() {
        page.close();
    }
}
