package dev.gpuwarden.daemon.uplink;

import java.time.Duration;

/**
 * The uplink's timeouts for the aggregator.
 *
 * @param retry the pause after the first failure, see {@link dev.gpuwarden.core.limit.Backoff}
 * @param welcome the wait for Welcome, from the start of the connection
 * @param acknowledgement the wait for an acknowledgement, since the last one
 * @param leaving the wait for open acknowledgements after the aggregator closes the connection
 */
record Timeouts(Duration retry, Duration welcome, Duration acknowledgement, Duration leaving) {

    static final Timeouts USUAL =
            new Timeouts(Duration.ofSeconds(1), Duration.ofSeconds(20), Duration.ofSeconds(60), Duration.ofSeconds(10));
}
