package dev.gpuwarden.aggregator.breaker;

import java.time.Duration;

/**
 * Nodes that are counted together.
 *
 * @param rate how many may be taken out of service within the window
 * @param level how many may be out of service at one time, whoever took them out
 */
public record Pool(String name, NodeSelector selector, Limit rate, Duration window, Limit level) {

    /** NVSentinel's own: half of the nodes that say they have GPUs, in five minutes; and half of them at one time. */
    public static final Pool GPU_NODES = new Pool(
            "gpu-nodes",
            NodeSelector.parse("nvidia.com/gpu.present=true"),
            Limit.percent(50),
            Duration.ofMinutes(5),
            Limit.percent(50));
}
