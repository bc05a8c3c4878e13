package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.UserError;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the cluster and the caller's identity there; the defaults are those of kubectl. */
final class KubeOptions {

    private static final Path TOKEN = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/token");

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "The kubeconfig with API server and identity (default: $KUBECONFIG, ~/.kube/config, the"
                    + " ServiceAccount of the pod).")
    @Nullable Path kubeconfig;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description = "The context of the kubeconfig (default: its current one).")
    @Nullable String context;

    /** Returns the configuration of the client. Throws {@link UserError} if none is found or readable. */
    KubeClient connect(Map<String, String> environment) {
        List<Path> files = files(environment);
        if (files.isEmpty()) {
            if (context != null) {
                throw new UserError("--context " + context + ": a pod's ServiceAccount has no contexts");
            }
            return KubeClient.connect(Config.autoConfigure(null));
        }
        String named =
                "kubeconfig " + files.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        try {
            Config config = KubeFiles.merge(files, context);
            NamedContext current = config.getCurrentContext();
            // The client would fall back to the current context, and so to another cluster than the requested one.
            if (current == null || context != null && !context.equals(current.getName())) {
                throw new UserError(named + " has no context "
                        + (context == null ? "that is the current one: give --context" : context));
            }
            return KubeClient.connect(config);
        } catch (UserError e) {
            throw e;
        } catch (RuntimeException e) {
            throw new UserError(named + " is of no use: " + reason(e));
        }
    }

    private static String reason(RuntimeException e) {
        return e instanceof KubernetesClientException && e.getCause() != null
                ? String.valueOf(e.getCause().getMessage())
                : String.valueOf(e.getMessage());
    }

    /** Returns the kubeconfig files, in order of precedence; empty for the ServiceAccount of the pod. */
    private List<Path> files(Map<String, String> environment) {
        if (kubeconfig != null) {
            return List.of(readable("--kubeconfig ", kubeconfig));
        }
        String listed = environment.getOrDefault("KUBECONFIG", "");
        List<Path> there = Stream.of(listed.split(File.pathSeparator))
                .filter(name -> !name.isBlank() && Files.exists(Path.of(name)))
                .map(name -> readable("KUBECONFIG ", Path.of(name)))
                .toList();
        if (!there.isEmpty()) {
            return there;
        }
        Path home = Path.of(environment.getOrDefault("HOME", "/nonexistent"), ".kube", "config");
        if (listed.isBlank() && Files.exists(home)) {
            return List.of(readable("", home));
        }
        if (Files.isReadable(TOKEN) && environment.containsKey("KUBERNETES_SERVICE_HOST")) {
            return List.of();
        }
        throw new UserError("no cluster found: expected --kubeconfig, KUBECONFIG, " + home
                + " or a pod with a ServiceAccount, found none of them"
                + (listed.isBlank() ? "" : " (KUBECONFIG is " + listed + ")"));
    }

    private static Path readable(String what, Path file) {
        if (!Files.isReadable(file)) {
            throw new UserError(what + file + " cannot be read");
        }
        return file;
    }

    /**
     * The merge of kubeconfigs by kubectl's rules. Apart from {@link KubeOptions}, whose methods are inspected wherever
     * commands are listed, even without the Kubernetes client on the class path.
     */
    static final class KubeFiles {

        private KubeFiles() {}

        /** Returns the merged kubeconfig. If two files define the same name, the first holds. */
        static Config merge(List<Path> files, @Nullable String context) {
            Config config = Config.empty();
            KubeConfigUtils.merge(
                    config,
                    context,
                    files.stream()
                            .map(file -> KubeConfigUtils.parseConfig(file.toFile()))
                            .toArray(io.fabric8.kubernetes.api.model.Config[]::new));
            return config;
        }
    }
}
