package dev.gpuwarden.aggregator.client;

import java.time.Duration;

/**
 * Of a leader election by a Lease, under the names that Kubernetes gives them.
 *
 * @param leaseDuration what a killed leader costs
 * @param renewDeadline who cannot renew for so long leads no more: well before another one may
 * @param retryPeriod how often each of those who run asks the API server
 */
public record LeaderElectionTimes(Duration leaseDuration, Duration renewDeadline, Duration retryPeriod) {

    public static final LeaderElectionTimes DEFAULT =
            new LeaderElectionTimes(Duration.ofSeconds(8), Duration.ofSeconds(5), Duration.ofSeconds(1));
}
