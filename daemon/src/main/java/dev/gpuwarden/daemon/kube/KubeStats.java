package dev.gpuwarden.daemon.kube;

import java.time.Instant;
import java.util.Optional;

/**
 * How the API server takes requests of one kind.
 *
 * @param refused answered with 4xx
 * @param failed not answered, or answered with 5xx
 * @param lastError empty while the last one worked
 * @param lastSuccess empty where none worked since the daemon started
 */
public record KubeStats(long ok, long refused, long failed, String lastError, Optional<Instant> lastSuccess) {}
