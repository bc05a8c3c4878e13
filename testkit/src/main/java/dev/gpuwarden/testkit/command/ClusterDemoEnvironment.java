package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.KubeletPace;
import dev.gpuwarden.testkit.cluster.OperatorServices;
import dev.gpuwarden.testkit.cluster.UserCluster;
import dev.gpuwarden.testkit.command.ClusterDemoRunner.ClusterDemoCheck;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The actions and queries of a demo in a cluster. */
final class ClusterDemoEnvironment implements AutoCloseable {

    private final Cluster cluster;
    private final Pace pace;
    private final Path image;
    private final Consumer<String> log;
    private final Shell shell;
    private final ClusterPage page;

    /** The GPU of a program that was changed last, and its node. */
    private String touchedNode = "node-1";

    private int touched;

    /** @param image the runtime image of this program */
    ClusterDemoEnvironment(Cluster cluster, Pace pace, Path image, Consumer<String> log) {
        this.cluster = cluster;
        this.pace = pace;
        this.image = image;
        this.log = log;
        this.shell = new Shell(image, cluster.controlPlane());
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

    Pace pace() {
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
        // The simulated NCCL in place of a copy of the real one, which an operator adds in the same way.
        Path nccl = image.resolve("lib/native/sim/libnccl.so.2");
        String made = shell.run("gpuwarden-image-archive --output " + archive + " --add '" + nccl + "'");
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

    /** Starts the programs of `programs.yaml`, which hold GPUs of that node. */
    void startPrograms(String node) {
        log.accept("$ kubectl apply --filename programs.yaml");
        cluster.controlPlane().apply(Resource.text("command/programs.yaml").replace("{node}", node));
    }

    /** Starts the services of a GPU operator on these nodes. They hold all GPUs from then on. */
    void startOperatorServices(String... nodes) {
        log.accept("$ kubectl label node " + String.join(" ", nodes) + " 'nvidia.com/gpu.deploy.*=true'");
        OperatorServices services = OperatorServices.install(cluster);
        for (String node : nodes) {
            services.deploy(node(node), OperatorServices.Service.values());
        }
    }

    /** Applies a manifest of this package's resources. */
    void apply(String file) {
        log.accept("$ kubectl apply --filename " + file);
        cluster.controlPlane().apply(Resource.text("command/" + file));
    }

    // ---- GPUs ----

    /** Changes the first GPU of a program, from NVIDIA_VISIBLE_DEVICES of its container. */
    void setGpuOf(String program, String... changes) {
        touchGpuOf(program);
        setSame(changes);
    }

    /** Applies a manifest of this package's resources for the first GPU of a program. */
    void applyForGpuOf(String program, String file) {
        String uuid = touchGpuOf(program);
        log.accept("$ kubectl apply --filename " + file);
        cluster.controlPlane()
                .apply(Resource.text("command/" + file)
                        .replace("{node}", touchedNode)
                        .replace("{gpu}", Integer.toString(touched))
                        .replace("{uuid}", uuid));
    }

    /** Finds the first GPU of a program, and returns its UUID. */
    private String touchGpuOf(String program) {
        touchedNode = shell.run("kubectl get deployment " + program + " --output "
                        + "'jsonpath={.spec.template.spec.nodeSelector.kubernetes\\.io/hostname}'")
                .strip();
        String held = shell.run("kubectl exec deployment/" + program + " -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES'")
                .strip()
                .split(",", -1)[0];
        List<String> uuids = node(touchedNode).gpus().control().gpus().stream()
                .map(NodeControl.Gpu::uuid)
                .toList();
        touched = uuids.indexOf(held);
        return held;
    }

    /** Changes the GPU of a program that was changed last. */
    void setSame(String... changes) {
        set(touchedNode, touched, changes);
    }

    /** @param changes key and value, for example `xid=79` */
    void set(String node, int gpu, String... changes) {
        change(node, "gpu." + gpu + ".", changes);
    }

    /** Ends processes of the node's scenario, which hold GPUs without a pod. */
    void endProcesses(String node, String... pids) {
        for (String pid : pids) {
            change(node, "process.", pid + "=stop");
        }
    }

    private void change(String node, String prefix, String... changes) {
        for (String change : changes) {
            int sign = change.indexOf('=');
            node(node).gpus().set(prefix + change.substring(0, sign), change.substring(sign + 1));
        }
    }

    private ClusterNode node(String name) {
        return cluster.nodes().stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
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

    /**
     * The pace of a demo in a cluster.
     *
     * @param daemonSettings a manifest with settings of the daemons, beside this class; empty for none
     * @param operatorSeconds limit of the start of an operator's pod
     */
    record Pace(KubeletPace kubelets, String daemonSettings, int operatorSeconds) {

        /** A pace that viewers can follow, with the defaults of kubelets. */
        static final Pace USUAL = new Pace(KubeletPace.USUAL, "", 20);

        /** The fastest pace with the same results: healthy pods start within these seconds on a busy machine too. */
        static final Pace FAST = new Pace(KubeletPace.FAST, "fast-settings.yaml", 10);
    }

    /**
     * Runs lines of shell with kubectl and gpuwarden on the PATH, as the administrator of the cluster.
     *
     * @param image the runtime image of this program
     */
    record Shell(Path image, ControlPlane plane) {

        /**
         * Returns the output; blocks until the command ends.
         *
         * @throws IllegalStateException when it fails, with its output
         */
        String run(String line) {
            Result result = execute(line);
            if (result.code != 0) {
                throw new IllegalStateException(
                        line + ": ended with exit code " + result.code + ": " + result.out + result.errors);
            }
            return result.out;
        }

        /** Returns the output and ignores the exit code. */
        String output(String line) {
            return execute(line).out;
        }

        private record Result(int code, String out, String errors) {}

        private Result execute(String line) {
            return Unchecked.get(() -> {
                Path home = Files.createDirectories(plane.adminKubeconfig().resolveSibling("shell"));
                Path out = Files.createTempFile(home, "shell", ".out");
                Path errors = Files.createTempFile(home, "shell", ".err");
                try {
                    ProcessBuilder builder = new ProcessBuilder("sh", "-c", line)
                            .redirectOutput(out.toFile())
                            .redirectError(errors.toFile());
                    Map<String, String> environment = builder.environment();
                    environment.put(
                            "PATH",
                            String.join(
                                    File.pathSeparator,
                                    image.resolve("bin").toString(),
                                    UserCluster.ofUser().tools().toString(),
                                    environment.getOrDefault("PATH", "/usr/bin:/bin")));
                    environment.put("KUBECONFIG", plane.adminKubeconfig().toString());
                    // kubectl's cache is in HOME, one per cluster; the files of the container image are cached for the
                    // user.
                    environment.putIfAbsent(
                            "XDG_CACHE_HOME",
                            Path.of(System.getProperty("user.home"), ".cache").toString());
                    environment.put("HOME", home.toString());
                    int code = Execution.of(builder).code();
                    return new Result(code, Files.readString(out), Files.readString(errors));
                } finally {
                    Files.delete(out);
                    Files.delete(errors);
                }
            });
        }
    }
}
