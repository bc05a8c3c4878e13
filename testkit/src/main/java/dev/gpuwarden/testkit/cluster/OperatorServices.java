package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The services of a GPU operator that use GPUs, as its DaemonSets in namespace `gpu-operator`: each pod holds the files of all of its
 * node's simulated GPUs. A service runs on the nodes whose label {@link Service#label()} is `true`; at the start no node has one.
 *
 * <p>From here until {@link #close()} the nodes offer `nvidia.com/gpu` only while their pod of the device plugin runs.
 */
public final class OperatorServices implements AutoCloseable {

    static final String NAMESPACE = "gpu-operator";

    /** In the folder of a node's simulated GPUs: its device plugin runs only while its pod does. */
    private static final String MARK = "run/operator-services";

    /** A service, in the order in which the operator's driver manager ends them. */
    public enum Service {
        DEVICE_PLUGIN("nvidia-device-plugin-daemonset"),
        GPU_FEATURE_DISCOVERY("gpu-feature-discovery"),
        DCGM_EXPORTER("nvidia-dcgm-exporter"),
        DCGM("nvidia-dcgm");

        private final String daemonSet;

        Service(String daemonSet) {
            this.daemonSet = daemonSet;
        }

        /** Returns the name of its DaemonSet, which is the label `app` of its pods too. */
        public String daemonSet() {
            return daemonSet;
        }

        /** Returns the node label that deploys it by the value `true`, for example `nvidia.com/gpu.deploy.dcgm`. */
        public String label() {
            return "nvidia.com/gpu.deploy." + word();
        }

        private String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        private String manifest() {
            return Resource.text("cluster/operator-service.yaml")
                    .replace("NAME", daemonSet)
                    .replace("LABEL", label())
                    .replace("SERVICE", word());
        }
    }

    private final Cluster cluster;

    private OperatorServices(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Creates the DaemonSets. The GPUs of all nodes are gone from their kubelets soon after. */
    public static OperatorServices install(Cluster cluster) {
        OperatorServices services = new OperatorServices(cluster);
        cluster.controlPlane()
                .apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + NAMESPACE + "}\n---\n"
                        + Arrays.stream(Service.values()).map(Service::manifest).collect(Collectors.joining("---\n")));
        cluster.nodes().forEach(node -> Unchecked.run(() -> Files.writeString(mark(node), "")));
        return services;
    }

    private static Path mark(ClusterNode node) {
        return node.gpus().root().resolve(MARK);
    }

    /** Deploys these services on the node and no others; does not wait. */
    public void deploy(ClusterNode node, Service... services) {
        label(node, service -> Arrays.asList(services).contains(service) ? "=true" : "=false");
    }

    private void label(ClusterNode node, Function<Service, String> change) {
        List<String> arguments = new ArrayList<>(List.of("label", "--overwrite", "node", node.name()));
        for (Service service : Service.values()) {
            arguments.add(service.label() + change.apply(service));
        }
        cluster.controlPlane().kubectl(arguments.toArray(String[]::new));
    }

    /** Returns false while the node's GPUs are those of a pod that does not run. */
    static boolean devicePluginRuns(Path gpus) {
        if (!Files.exists(gpus.resolve(MARK))) {
            return true;
        }
        try (FileChannel file = FileChannel.open(
                        gpus.resolve("run/service-" + Service.DEVICE_PLUGIN.word()),
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                FileLock mine = file.tryLock()) {
            // The pod holds the lock.
            return mine == null;
        } catch (IOException noPodYet) {
            return false;
        }
    }

    /** Deletes the DaemonSets and the labels, and waits for the end of the pods; the nodes offer their GPUs as before. */
    @Override
    public void close() {
        cluster.nodes().forEach(node -> label(node, service -> "-"));
        List<String> delete = new ArrayList<>(
                List.of("delete", "--namespace", NAMESPACE, "--ignore-not-found", "--cascade=foreground", "daemonset"));
        Arrays.stream(Service.values()).map(Service::daemonSet).forEach(delete::add);
        cluster.controlPlane().kubectl(delete.toArray(String[]::new));
        cluster.nodes().forEach(node -> Unchecked.run(() -> Files.deleteIfExists(mark(node))));
    }
}
