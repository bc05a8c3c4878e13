package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.PoolText;
import dev.gpuwarden.aggregator.control.Steering;
import dev.gpuwarden.aggregator.quarantine.Mode;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Whether nodes are taken out of service, and how many at most. */
final class SteeringOptions {

    private static final Path NAMESPACE = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/namespace");

    /** What is done with what is decided. */
    enum Quarantine {
        /** Nothing is decided. */
        off,
        dry_run,
        armed;

        @Override
        public String toString() {
            return name().replace('_', '-');
        }
    }

    @Option(
            names = "--quarantine",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Whether nodes with faults that meet a QuarantineRuleSet are taken out of service, and returned:"
                            + " ${COMPLETION-CANDIDATES}. A dry run decides and tells, and changes no Node (default: ${DEFAULT-VALUE}).")
    Quarantine mode = Quarantine.dry_run;

    @Option(
            names = "--breaker.pool",
            split = ",",
            paramLabel = "POOL",
            description =
                    "How many nodes may be taken out of service: NAME;SELECTOR;rate=LIMIT/TIME;level=LIMIT, where a"
                            + " LIMIT is a percentage, a number, or both with a comma, of which the lower holds. May be given"
                            + " several times (default: gpu-nodes;nvidia.com/gpu.present=true;rate=50%%/5m;level=50%%).")
    List<String> pools = new ArrayList<>();

    @Option(
            names = "--cluster.namespace",
            paramLabel = "NAME",
            description =
                    "Where this program keeps its Lease and its ConfigMap (default: the namespace of the pod, or else"
                            + " gpuwarden).")
    @Nullable String namespace;

    @Option(
            names = "--audit.file",
            paramLabel = "FILE",
            description = "Where each decision goes with the evidence that it saw, as a line of JSON (default: standard"
                    + " output).")
    @Nullable Path auditFile;

    /** Empty where quarantine is off. Throws {@link UserError} for what cannot be. */
    Optional<Steering.Settings> settings() {
        if (mode == Quarantine.off) {
            return Optional.empty();
        }
        List<Pool> parsed = new ArrayList<>();
        for (String pool : PoolText.separate(pools)) {
            try {
                parsed.add(PoolText.parse(pool));
            } catch (IllegalArgumentException e) {
                throw new UserError("--breaker.pool: " + e.getMessage());
            }
        }
        if (parsed.stream().map(Pool::name).distinct().count() != parsed.size()) {
            throw new UserError("--breaker.pool: two pools have the same name");
        }
        return Optional.of(new Steering.Settings(
                namespace(),
                identity(),
                mode == Quarantine.armed ? Mode.ARMED : Mode.DRY_RUN,
                parsed.isEmpty() ? List.of(Pool.GPU_NODES) : parsed));
    }

    private String namespace() {
        if (namespace != null) {
            return namespace;
        }
        try {
            return Files.readString(NAMESPACE).strip();
        } catch (IOException e) {
            return "gpuwarden";
        }
    }

    /** A pod keeps its name when its container starts anew, and the one before may still be thought to lead. */
    private static String identity() {
        String host = System.getenv().getOrDefault("HOSTNAME", "gpuwarden");
        return host + "_" + UUID.randomUUID().toString().substring(0, 8);
    }
}
