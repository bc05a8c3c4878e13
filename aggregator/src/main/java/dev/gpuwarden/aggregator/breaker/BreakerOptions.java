package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the location and the limits of the aggregator's breaker. */
public final class BreakerOptions {

    private static final Path NAMESPACE = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/namespace");

    @Option(
            names = "--breaker.pool",
            split = ",",
            paramLabel = "POOL",
            description =
                    "The limits on nodes out of service in a pool: NAME;SELECTOR;rate=LIMIT/TIME;level=LIMIT, where a"
                            + " LIMIT is a percentage, a number, or both with a comma, of which the lower holds. May be given"
                            + " several times (default: for the aggregator gpu-nodes;nvidia.com/gpu.present=true;rate=50%%/5m;level=50%%, for"
                            + " the other commands the limits in the ConfigMap gpuwarden-breaker).")
    List<String> pools = new ArrayList<>();

    @Option(
            names = "--cluster.namespace",
            paramLabel = "NAME",
            description = "The namespace of the aggregator's Lease and ConfigMap (default: the namespace of the pod, or"
                    + " else gpuwarden).")
    @Nullable String namespace;

    /** Returns the pools of an aggregator. Throws {@link UserError} if one cannot be parsed. */
    public List<Pool> pools() {
        return given().orElse(List.of(Pool.GPU_NODES));
    }

    /** Returns the given pools; empty if none was given. Throws {@link UserError} if one cannot be parsed. */
    public Optional<List<Pool>> given() {
        try {
            return pools.isEmpty() ? Optional.empty() : Optional.of(Pool.Parser.parseAll(pools));
        } catch (IllegalArgumentException e) {
            throw new UserError("--breaker.pool: " + e.getMessage());
        }
    }

    public String namespace() {
        if (namespace != null) {
            return namespace;
        }
        try {
            return Files.readString(NAMESPACE).strip();
        } catch (IOException e) {
            return "gpuwarden";
        }
    }
}
