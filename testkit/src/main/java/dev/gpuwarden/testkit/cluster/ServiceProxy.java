package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The kube-proxy that serves ClusterIPs to the API server, for webhooks behind Services. Nodes have their own. */
record ServiceProxy(Program program) implements AutoCloseable {

    private static final Duration STARTING = Duration.ofMinutes(1);

    /**
     * Starts it; blocks until it has written its rules.
     *
     * @param folder empty, or does not exist yet
     * @param node name of a Node object
     */
    static ServiceProxy start(
            Path folder, Binaries binaries, ControlPlane.Place place, String kubeconfig, String node) {
        Path itsKubeconfig = folder.resolve("kubeconfig");
        Path configuration = folder.resolve("kube-proxy.yaml");
        Unchecked.run(() -> {
            Files.createDirectories(folder);
            Files.writeString(itsKubeconfig, kubeconfig);
            Files.writeString(configuration, configuration(itsKubeconfig.toString(), node));
        });
        List<String> inside = new ArrayList<>(place.enter());
        List<String> command = new ArrayList<>(inside);
        command.addAll(List.of(binaries.path("kube-proxy").toString(), "--config=" + configuration));
        Program program = Program.start(folder, "kube-proxy", "", command);
        inside.addAll(List.of("nft", "list", "table", "ip", "kube-proxy"));
        try {
            program.await(STARTING, "its rules", () -> Shell.succeeds(inside));
            return new ServiceProxy(program);
        } catch (RuntimeException | Error e) {
            program.close();
            throw e;
        }
    }

    /** Returns the text of a kube-proxy's configuration. */
    static String configuration(String kubeconfig, String node) {
        return Resource.text("cluster/node/kube-proxy.yaml")
                .replace("KUBECONFIG", kubeconfig)
                .replace("NODE", node);
    }

    @Override
    public void close() {
        program.kill();
    }
}
