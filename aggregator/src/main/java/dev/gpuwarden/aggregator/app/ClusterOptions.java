package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.UserError;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which cluster, and who this program is there. */
final class ClusterOptions {

    private static final Path TOKEN = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/token");

    @Option(
            names = "--cluster.kubeconfig",
            paramLabel = "FILE",
            description = "How to reach the API server and who to be there (default: the ServiceAccount of the pod).")
    @Nullable Path kubeconfig;

    /** Throws {@link UserError} where there is nothing to connect with. Never what else is configured on this machine. */
    KubeClient connect() {
        if (kubeconfig == null) {
            if (!Files.isReadable(TOKEN) || System.getenv("KUBERNETES_SERVICE_HOST") == null) {
                throw new UserError("this is no pod with a ServiceAccount (no " + TOKEN
                        + " or no KUBERNETES_SERVICE_HOST): give --cluster.kubeconfig");
            }
            return KubeClient.connect(Config.autoConfigure(null));
        }
        if (!Files.isReadable(kubeconfig)) {
            throw new UserError("--cluster.kubeconfig " + kubeconfig + " cannot be read");
        }
        try {
            return KubeClient.connect(Config.fromKubeconfig(kubeconfig.toFile()));
        } catch (RuntimeException e) {
            // What the client says itself is that an error has occurred.
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new UserError("--cluster.kubeconfig " + kubeconfig + " is of no use: " + cause.getMessage());
        }
    }
}
