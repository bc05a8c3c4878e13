package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.daemon.metrics.Exposition;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.metrics.Scraper;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplerStats;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The daemon's state of a node after one reading, and the parts that make metrics from it. */
record Snapshot(NodeSnapshot node, NodeMemory memory, Scraper scraper) {

    private record Seen(NodeSnapshot node, SamplerStats stats) {}

    static Snapshot of(Node node) {
        Seen seen = NodeSampler.once(
                node.provider(SamplerPath.AUTO),
                new SamplingSettings(),
                new PciBus(node.paths()),
                sampler -> new Seen(sampler.snapshot(), sampler.stats()));
        if (seen.node.gpus().isEmpty()) {
            throw new IllegalStateException("no GPUs: " + seen.node.driver());
        }
        NodeMemory memory = new NodeMemory(new ProcessOwners(node.paths()));
        Exposition exposition = new Exposition(MetricsOptions.of(false, false, false));
        return new Snapshot(seen.node, memory, new Scraper(seen::node, seen.stats, memory, exposition));
    }

    /** Returns one scrape like the daemon: attribution, all series, text. */
    byte[] scrape() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256 * 1024);
        try {
            PrometheusTextFormatWriter.create().write(bytes, scraper.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
