package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Unchecked;
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
import java.util.Objects;
import java.util.function.Consumer;

/** The actions and queries of a demo in a cluster. */
final class ClusterDemoEnvironment implements AutoCloseable {

    private final Cluster cluster;
    private final ClusterPace pace;
    private final Path image;
    private final Consumer<String> log;
    private final ClusterShell shell;
    private final ClusterPage page;

    /** The GPU of node-1 that was changed last. */
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

    /** Returns the runtime image of this program, which contains the files to install. */
    static Path image() {
        Path home = Path.of(System.getProperty("gpuwarden.home", ""));
        if (!Files.isExecutable(home.resolve("bin/gpuwarden-image-archive"))) {
            throw new UserError(
                    "expected to run from the runtime image, which contains the files to install; run ./gpuwarden demo cluster");
        }
        return home;
    }

    ClusterPace pace() {
        return pace;
    }

    // ---- installation ----

    /** Loads a container image of this program on all nodes. */
    void loadImage() {
        Unchecked.run(() -> {
            Path archive = Files.createTempFile("gpuwarden-image-", ".tar");
            // Also deleted after a signal.
            archive.toFile().deleteOnExit();
            try {
                loadImage(archive);
            } finally {
                Files.delete(archive);
            }
        });
    }

    private void loadImage(Path archive) {
        long start = System.nanoTime();
        String made = shell.run("gpuwarden-image-archive --output " + archive);
        log.accept("made     " + seconds(start) + "  " + made.strip());
        start = System.nanoTime();
        cluster.nodes().parallelStream().forEach(node -> node.load(archive));
        log.accept("loaded   " + seconds(start) + "  by " + cluster.nodes().size() + " nodes");
    }

    /** Prints and runs a line of shell. Its working directory is `share` of the runtime image. */
    void run(String line) {
        log.accept("$ " + line);
        shell.run("cd '" + image.resolve("share") + "' && " + line);
    }

    /** Applies the pace's settings for the daemons, if any. */
    void applySettings() {
        if (!pace.daemonSettings().isEmpty()) {
            apply(pace.daemonSettings());
        }
    }

    /** Applies a manifest of this package's resources. */
    void apply(String file) {
        log.accept("$ kubectl apply --filename " + file);
        cluster.controlPlane().apply(resource(file));
    }

    /** Returns the text of a resource beside this class. */
    static String resource(String file) {
        try (InputStream in = Objects.requireNonNull(ClusterDemoEnvironment.class.getResourceAsStream(file), file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- GPUs ----

    /** Changes the first GPU of a program on node-1, from NVIDIA_VISIBLE_DEVICES of its container. */
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

    /** Changes the GPU of node-1 that was changed last. */
    void setSame(String... changes) {
        set("node-1", touched, changes);
    }

    /** @param changes key and value, for example `xid=79` */
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

    // ---- queries ----

    /** Returns the present output of a {@link ClusterDemoCheck}. */
    String output(String command) {
        if (!command.startsWith(ClusterDemoCheck.PAGE)) {
            return shell.output(command);
        }
        String node = command.substring(ClusterDemoCheck.PAGE.length());
        return node.isEmpty() ? page.door() : page.of(node);
    }

    /** Returns pods, warnings and logs, to find out why a step failed. */
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
