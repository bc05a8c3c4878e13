package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.daemon.telemetry.SamplerStats;
import java.util.List;
import java.util.function.Supplier;

/** Turns one part of a scrape into series. Pure: reads the scrape, writes the families. */
public interface Collector {

    /** Lower-case words, for the label that says where collecting failed. */
    String name();

    void collect(Scrape scrape, Family.Series out);

    /**
     * What one exposition is made from.
     *
     * @param memory whose memory, one entry for each GPU of the node; asked once, where it is needed
     */
    record Scrape(
            NodeSnapshot node,
            Supplier<List<GpuMemoryUse>> memory,
            SamplerStats sampler,
            ProcessStatsReader.Stats self) {}
}
