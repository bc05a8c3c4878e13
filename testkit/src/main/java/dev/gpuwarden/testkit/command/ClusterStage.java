package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** What a demo does to a cluster. */
final class ClusterStage {

    private final Cluster cluster;
    private final Path image;
    private final Consumer<String> tell;
    private int trainers = -1;

    /** @param image the runtime image of this program */
    ClusterStage(Cluster cluster, Path image, Consumer<String> tell) {
        this.cluster = cluster;
        this.image = image;
        this.tell = tell;
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
        String made = script("gpuwarden-image-archive", "--output", archive.toString());
        tell.accept("made     " + seconds(start) + "  " + made.strip());
        start = System.nanoTime();
        cluster.nodes().forEach(node -> node.load(archive));
        tell.accept("loaded   " + seconds(start) + "  by " + cluster.nodes().size() + " nodes");
    }

    /** As a user does, but for the simulated GPUs. */
    void install() {
        kubectl(List.of(
                "apply",
                "--kustomize",
                image.resolve("share/kubernetes-simulated").toString()));
        cluster.controlPlane().apply(script("gpuwarden-certificates"));
    }

    /** Has nodes with fatal faults taken out of service. */
    void arm() {
        kubectl(List.of("label", "nodes", "--all", "nvidia.com/gpu.present=true"));
        kubectl(List.of(
                "apply",
                "--filename",
                image.resolve("share/kubernetes/quarantine-rules.yaml").toString()));
    }

    /** Has a pod get GPUs of node-1, and its daemon asked who holds them. */
    void train() {
        cluster.controlPlane().apply(pod("trainer", 2));
        kubectl(List.of("wait", "--for=condition=Ready", "pod/trainer", "--timeout=2m"));
        kubectl(List.of(
                "patch",
                "nodehealth",
                "node-1",
                "--type=merge",
                "--patch={\"spec\":{\"lookup\":{\"id\":\"demo\",\"requested\":\"" + Instant.now() + "\"}}}"));
    }

    private static String pod(String name, int gpus) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: NAME}
                spec:
                  nodeName: node-1
                  terminationGracePeriodSeconds: 0
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: [sleep, infinity]
                    resources: {limits: {nvidia.com/gpu: GPUS}}
                """.replace("NAME", name).replace("GPUS", Integer.toString(gpus));
    }

    /** Has three pods more get a GPU each of node-1. */
    void join() {
        for (String name : List.of("one", "two", "three")) {
            cluster.controlPlane().apply(pod(name, 1));
        }
        kubectl(List.of("wait", "--for=condition=Ready", "pod/one", "pod/two", "pod/three", "--timeout=2m"));
    }

    /** To a GPU of node-1 that the trainer holds, as the node has said. */
    void setTrainers(String key, String value) {
        if (trainers < 0) {
            String held = kubectl(List.of(
                            "get",
                            "nodehealth",
                            "node-1",
                            "--output=jsonpath={.status.holdings.holders[?(@.pod==\"trainer\")].gpu}"))
                    .split(" ")[0];
            List<String> uuids = cluster.nodes().get(0).gpus().control().gpus().stream()
                    .map(gpu -> gpu.uuid())
                    .toList();
            trainers = uuids.indexOf(held);
        }
        set("node-1", "gpu." + trainers + "." + key, value);
    }

    void set(String node, String key, String value) {
        cluster.nodes().stream()
                .filter(one -> one.name().equals(node))
                .map(ClusterNode::gpus)
                .forEach(gpus -> gpus.set(key, value));
    }

    String kubectl(List<String> arguments) {
        return cluster.controlPlane().kubectl(arguments.toArray(new String[0]));
    }

    /** What helps to see why something did not happen. */
    String state() {
        StringBuilder all = new StringBuilder();
        for (String what : List.of(
                "get pods --namespace gpuwarden --output wide",
                "get events --namespace gpuwarden --field-selector type=Warning",
                "logs --namespace gpuwarden deployment/gpuwarden-aggregator --tail 20",
                "logs --namespace gpuwarden daemonset/gpuwarden --tail 20")) {
            all.append("$ kubectl ").append(what).append('\n');
            try {
                all.append(kubectl(List.of(what.split(" "))));
            } catch (IllegalStateException e) {
                all.append(e.getMessage()).append('\n');
            }
        }
        return all.toString();
    }

    private String script(String name, String... arguments) {
        List<String> command =
                new ArrayList<>(List.of(image.resolve("bin").resolve(name).toString()));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command).start();
            String out = text(process.getInputStream());
            // A few lines, which a pipe holds.
            String said = text(process.getErrorStream());
            if (process.waitFor() != 0) {
                throw new UserError(said.strip());
            }
            return out;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + name + " runs", e);
        }
    }

    private static String text(InputStream in) throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    static String seconds(long since) {
        return String.format(Locale.ROOT, "%5.1f s", (System.nanoTime() - since) / 1e9);
    }
}
