package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import java.time.Duration;

/**
 * How long a drain waits for others.
 *
 * @param holders for a daemon to answer who holds its GPUs
 * @param signal for a node to answer that it has sent a signal
 * @param retry after a pod was refused first, see {@link Refusal}
 * @param quiet after a write on the Node, until what has only become less is written
 */
public record DrainTimes(Duration holders, Duration signal, Duration retry, Duration quiet) {

    public static final DrainTimes DEFAULT = new DrainTimes(
            Duration.ofSeconds(15), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(10));
}
