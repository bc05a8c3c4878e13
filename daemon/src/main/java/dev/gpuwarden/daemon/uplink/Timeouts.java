package dev.gpuwarden.daemon.uplink;

import java.time.Duration;

/**
 * How long the uplink waits for the aggregator.
 *
 * @param retry after the first failure, see {@link dev.gpuwarden.core.limit.Backoff}
 * @param welcome from the attempt to connect on
 * @param acknowledgement of anything that is not acknowledged, since the last one
 * @param leaving for what is not acknowledged when the aggregator closes the connection
 */
record Timeouts(Duration retry, Duration welcome, Duration acknowledgement, Duration leaving) {

    static final Timeouts USUAL =
            new Timeouts(Duration.ofSeconds(1), Duration.ofSeconds(20), Duration.ofSeconds(60), Duration.ofSeconds(10));
}
