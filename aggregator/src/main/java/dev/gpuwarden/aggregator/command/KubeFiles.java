package dev.gpuwarden.aggregator.command;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Puts kubeconfigs together as kubectl does. Apart from {@link KubeOptions}, whose methods are looked at wherever commands are
 * listed, also where the Kubernetes client is not on the path.
 */
final class KubeFiles {

    private KubeFiles() {}

    /** Of two that say something of the same name, the first holds. */
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
