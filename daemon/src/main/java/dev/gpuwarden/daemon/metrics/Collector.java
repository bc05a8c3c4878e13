package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.telemetry.SamplerStats;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * A converter of one part of a scrape into series.
 *
 * @param name in lower case, for the label of failed collections
 * @param body pure: reads the scrape, writes the series
 */
public record Collector(String name, BiConsumer<Scrape, Family.Series> body) {

    /**
     * The input of one exposition.
     *
     * @param memory supplies the attribution of memory, one entry for each GPU of the node; called once, where it is
     *     needed
     */
    public record Scrape(
            NodeSnapshot node,
            Supplier<List<GpuMemoryUse>> memory,
            SamplerStats sampler,
            ProcessStatsReader.Stats self) {}
}
