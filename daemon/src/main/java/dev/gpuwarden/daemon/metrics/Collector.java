package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.telemetry.SamplerStats;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** A converter of one part of a scrape into series. Pure: reads the scrape, writes the series. */
public interface Collector {

    /** Returns the name in lower case, for the label of failed collections. */
    String name();

    void collect(Scrape scrape, Family.Series out);

    static Collector of(String name, BiConsumer<Scrape, Family.Series> body) {
        return new Collector() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public void collect(Scrape scrape, Family.Series out) {
                body.accept(scrape, out);
            }
        };
    }

    /**
     * The input of one exposition.
     *
     * @param memory supplies the attribution of memory, one entry for each GPU of the node; called once, where it is
     *     needed
     */
    record Scrape(
            NodeSnapshot node,
            Supplier<List<GpuMemoryUse>> memory,
            SamplerStats sampler,
            ProcessStatsReader.Stats self) {}
}
