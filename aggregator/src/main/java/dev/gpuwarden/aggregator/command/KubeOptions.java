package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.cli.UserError;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which cluster, and who the caller is there: what kubectl would take. */
final class KubeOptions {

    private static final Path TOKEN = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/token");

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "How to reach the API server and who to be there (default: $KUBECONFIG, ~/.kube/config, the"
                    + " ServiceAccount of the pod).")
    @Nullable Path kubeconfig;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description = "Which context of the kubeconfig (default: its current one).")
    @Nullable String context;

    /** Throws {@link UserError} where there is nothing to connect with. */
    ClusterApi connect(Map<String, String> environment) {
        Optional<Path> file = file(environment);
        if (file.isEmpty()) {
            if (context != null) {
                throw new UserError("--context " + context + ": a pod's ServiceAccount has no contexts");
            }
            return ClusterApi.connect(Config.autoConfigure(null));
        }
        try {
            Config config = Config.fromKubeconfig(context, file.get().toFile());
            if (config.getCurrentContext() == null) {
                throw new UserError("kubeconfig " + file.get() + " has no context "
                        + (context == null ? "that is the current one: give --context" : context));
            }
            ClientKey.algorithm(config).ifPresent(config::setClientKeyAlgo);
            return ClusterApi.connect(config);
        } catch (UserError e) {
            throw e;
        } catch (RuntimeException e) {
            throw new UserError("kubeconfig " + file.get() + " is of no use: " + reason(e));
        }
    }

    private static String reason(RuntimeException e) {
        return e instanceof KubernetesClientException && e.getCause() != null
                ? String.valueOf(e.getCause().getMessage())
                : String.valueOf(e.getMessage());
    }

    /** Empty for the ServiceAccount of the pod. */
    private Optional<Path> file(Map<String, String> environment) {
        if (kubeconfig != null) {
            return Optional.of(readable("--kubeconfig ", kubeconfig));
        }
        String listed = environment.getOrDefault("KUBECONFIG", "");
        for (String name : listed.split(File.pathSeparator)) {
            // The first of them that is there: what several of them say together is not put together here.
            if (!name.isBlank() && Files.exists(Path.of(name))) {
                return Optional.of(readable("KUBECONFIG ", Path.of(name)));
            }
        }
        Path home = Path.of(environment.getOrDefault("HOME", "/nonexistent"), ".kube", "config");
        if (listed.isBlank() && Files.exists(home)) {
            return Optional.of(readable("", home));
        }
        if (Files.isReadable(TOKEN) && environment.containsKey("KUBERNETES_SERVICE_HOST")) {
            return Optional.empty();
        }
        throw new UserError("no cluster to ask: expected --kubeconfig, KUBECONFIG, " + home
                + " or a pod with a ServiceAccount, found none of them"
                + (listed.isBlank() ? "" : " (KUBECONFIG is " + listed + ")"));
    }

    private static Path readable(String what, Path file) {
        if (!Files.isReadable(file)) {
            throw new UserError(what + file + " cannot be read");
        }
        return file;
    }
}
