package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.telemetry.SamplerStats;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * A source of the text for scrapers. Concurrent scrapes, and scrapes within a second, share one exposition of each
 * format, so their number does not multiply the work. Thread-safe; reads /proc, never waits for the driver.
 */
public final class Scraper {

    /** The time for which scrapes share a text, the default interval of readings. */
    private static final long SHARED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<NodeSnapshot> nodes;
    private final SamplerStats sampler;
    private final NodeMemory memory;
    private final ProcessStatsReader self;
    private final Exposition exposition;
    private final LongSupplier nanoTime;

    private final Map<Form, Text> texts = new HashMap<>();
    private long made;
    private long lastNanos;

    private record Form(TextFormat format, boolean gzip) {}

    private record Text(byte[] bytes, long madeAtNanos) {}

    public Scraper(Supplier<NodeSnapshot> nodes, SamplerStats sampler, NodeMemory memory, Exposition exposition) {
        this(nodes, sampler, memory, new ProcessStatsReader(), exposition, System::nanoTime);
    }

    Scraper(
            Supplier<NodeSnapshot> nodes,
            SamplerStats sampler,
            NodeMemory memory,
            ProcessStatsReader self,
            Exposition exposition,
            LongSupplier nanoTime) {
        this.nodes = nodes;
        this.sampler = sampler;
        this.memory = memory;
        this.self = self;
        this.exposition = exposition;
        this.nanoTime = nanoTime;
    }

    /** Returns one exposition, created now. */
    public MetricSnapshots scrape() {
        NodeSnapshot node = nodes.get();
        Reading<Double> last = made == 0 ? Reading.absent(Absence.PENDING) : Reading.of(lastNanos / 1e9);
        return exposition.snapshots(
                new Collector.Scrape(node, () -> memory.attribute(node), sampler, self.read(made, last)));
    }

    /** Returns the bytes of one exposition, at most a second old. The caller must not change them. */
    synchronized byte[] text(TextFormat format, boolean gzip) {
        long now = nanoTime.getAsLong();
        texts.values().removeIf(text -> now - text.madeAtNanos > SHARED_NANOS);
        Form form = new Form(format, gzip);
        Text text = texts.get(form);
        if (text == null) {
            text = new Text(write(form, scrape()), now);
            texts.put(form, text);
            made++;
            lastNanos = nanoTime.getAsLong() - now;
        }
        return text.bytes;
    }

    private static byte[] write(Form form, MetricSnapshots snapshots) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(form.gzip ? 32 * 1024 : 256 * 1024);
        try (OutputStream out = form.gzip ? fastGzip(bytes) : bytes) {
            form.format.writer().write(out, snapshots);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static OutputStream fastGzip(OutputStream out) throws IOException {
        return new GZIPOutputStream(out, 8192) {
            {
                def.setLevel(Deflater.BEST_SPEED);
            }
        };
    }
}
