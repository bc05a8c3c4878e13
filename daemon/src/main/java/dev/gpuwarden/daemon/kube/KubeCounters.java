package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.daemon.kube.ApiRequest.Kind;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Counters of requests to the API server, by kind. Thread-safe. */
final class KubeCounters {

    private static final KubeStats NONE = new KubeStats(0, 0, 0, "", Optional.empty());

    private final Map<Kind, KubeStats> kinds = new EnumMap<>(Kind.class);

    synchronized void worked(Kind kind, Instant at) {
        KubeStats of = kinds.getOrDefault(kind, NONE);
        kinds.put(kind, new KubeStats(of.ok() + 1, of.refused(), of.failed(), "", Optional.of(at)));
    }

    synchronized void failed(Kind kind, KubeException cause) {
        KubeStats of = kinds.getOrDefault(kind, NONE);
        int failed = cause.status() == 0 || cause.status() >= 500 ? 1 : 0;
        String error = String.valueOf(cause.getMessage());
        kinds.put(
                kind, new KubeStats(of.ok(), of.refused() + 1 - failed, of.failed() + failed, error, of.lastSuccess()));
    }

    /** Clears the last errors of these kinds: the Node has the desired state. */
    synchronized void settled(Set<Kind> these) {
        kinds.replaceAll((kind, of) ->
                these.contains(kind) ? new KubeStats(of.ok(), of.refused(), of.failed(), "", of.lastSuccess()) : of);
    }

    synchronized Map<String, KubeStats> stats() {
        Map<String, KubeStats> stats = new TreeMap<>();
        kinds.forEach((kind, of) -> stats.put(kind.name(), of));
        return stats;
    }
}
