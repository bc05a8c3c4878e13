package dev.gpuwarden.daemon.kube;

import java.time.Instant;
import java.util.Optional;

/**
 * The results of requests of one kind.
 *
 * @param refused answered with 4xx
 * @param failed not answered, or answered with 5xx
 * @param lastError empty while the last request worked
 * @param lastSuccess empty if no request worked since the daemon started
 */
public record KubeStats(long ok, long refused, long failed, String lastError, Optional<Instant> lastSuccess) {}
