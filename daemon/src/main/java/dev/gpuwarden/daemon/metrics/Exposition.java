package dev.gpuwarden.daemon.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A converter of a scrape into metrics. The same scrape gives the same metrics, except for counts of its own failures
 * and rates between two scrapes. A collector that fails costs its own series only. Thread-safe.
 */
public final class Exposition {

    private static final System.Logger LOG = System.getLogger(Exposition.class.getName());

    private final Supplier<List<Collector>> recipe;
    private final AtomicLong duplicates = new AtomicLong();
    private @Nullable Collectors collectors;

    /** Collectors with the number of failures of each. */
    private record Collectors(List<Collector> all, AtomicLongArray errors) {}

    /** @param parts collectors of parts of the daemon that this package does not depend on */
    public Exposition(MetricsOptions options, Supplier<List<Collector>> parts) {
        recipe = () -> {
            List<Collector> all = new ArrayList<>(collectors(options));
            all.addAll(parts.get());
            return all;
        };
    }

    public Exposition(MetricsOptions options) {
        this(options, List::of);
    }

    /**
     * Returns the collectors, which are created at the first scrape: some hundred names are checked and built, which
     * would delay the daemon's start.
     */
    private synchronized Collectors collectors() {
        Collectors made = collectors;
        if (made == null) {
            List<Collector> all = recipe.get();
            made = new Collectors(all, new AtomicLongArray(all.size()));
            collectors = made;
        }
        return made;
    }

    private static List<Collector> collectors(MetricsOptions options) {
        return List.of(
                new Collector("node", new NodeCollector()::collect),
                new Collector("gpu", new GpuCollector(options.unsupported())::collect),
                new Collector("nvlink", LinkCollector::collect),
                new Collector("memory", new MemoryCollector(options.processes())::collect),
                new Collector("daemon", DaemonCollector::collect));
    }

    /** Returns all metrics, sorted by name. */
    public MetricSnapshots snapshots(Collector.Scrape scrape) {
        List<MetricSnapshot> snapshots = new ArrayList<>();
        List<Collector> all = collectors().all();
        AtomicLongArray errors = collectors().errors();
        for (int i = 0; i < all.size(); i++) {
            Collector collector = all.get(i);
            try {
                Family.Series families = new Family.Series();
                collector.body().accept(scrape, families);
                snapshots.addAll(families.snapshots());
                duplicates.addAndGet(families.duplicates());
            } catch (RuntimeException e) {
                if (errors.getAndIncrement(i) == 0) {
                    LOG.log(
                            Level.ERROR,
                            "metrics of a collector are missing, further failures are counted only: "
                                    + collector.name(),
                            e);
                }
            }
        }
        Family.Series own = new Family.Series();
        for (int i = 0; i < all.size(); i++) {
            own.add(
                    "gpuwarden_collector_errors",
                    Labels.of("collector", all.get(i).name()),
                    errors.get(i));
        }
        own.add("gpuwarden_duplicate_series", duplicates.get());
        snapshots.addAll(own.snapshots());
        return new MetricSnapshots(snapshots);
    }
}
