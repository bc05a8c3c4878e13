package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.daemon.kube.ApiRequest.Kind;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** Counters of requests to the API server, by kind. Thread-safe. */
final class KubeCounters {

    private final Map<Kind, Kinds> kinds = new EnumMap<>(Kind.class);

    private static final class Kinds {
        long ok;
        long refused;
        long failed;
        String lastError = "";
        Optional<Instant> lastSuccess = Optional.empty();
    }

    synchronized void worked(Kind kind, Instant at) {
        Kinds of = of(kind);
        of.ok++;
        of.lastError = "";
        of.lastSuccess = Optional.of(at);
    }

    synchronized void failed(Kind kind, KubeException cause) {
        Kinds of = of(kind);
        if (cause.status() == 0 || cause.status() >= 500) {
            of.failed++;
        } else {
            of.refused++;
        }
        of.lastError = String.valueOf(cause.getMessage());
    }

    /** Clears the last errors except those of Events: the Node has the desired state. */
    synchronized void settled() {
        kinds.forEach((kind, of) -> of.lastError = kind == Kind.events ? of.lastError : "");
    }

    private Kinds of(Kind kind) {
        return kinds.computeIfAbsent(kind, any -> new Kinds());
    }

    synchronized Map<String, KubeStats> stats() {
        Map<String, KubeStats> stats = new java.util.TreeMap<>();
        kinds.forEach((kind, of) ->
                stats.put(kind.name(), new KubeStats(of.ok, of.refused, of.failed, of.lastError, of.lastSuccess)));
        return stats;
    }
}
