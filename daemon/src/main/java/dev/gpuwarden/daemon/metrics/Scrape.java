package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.daemon.telemetry.SamplerStats;
import java.util.List;
import java.util.function.Supplier;

/**
 * What one exposition is made from.
 *
 * @param memory whose memory, one entry for each GPU of the node; asked once, where it is needed
 */
public record Scrape(NodeSnapshot node, Supplier<List<GpuMemoryUse>> memory, SamplerStats sampler, ProcessStats self) {}
