package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.telemetry.Kind;
import dev.gpuwarden.core.telemetry.Metric;
import dev.gpuwarden.core.util.TsvResource;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DuplicateLabelsException;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot.UnknownDataPointSnapshot;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** A metric's name, unit, help and type, created once. The writer adds `_total` to counters and `_info` to infos. */
public final class Family {

    private enum Type {
        GAUGE,
        COUNTER,
        BARE_COUNTER,
        INFO,
        SUMMARY
    }

    /** All families but those of readings, by name with unit; read at the first scrape. */
    private static final Map<String, Family> TABLE = TsvResource.read(
                    Family.class,
                    "families.tsv",
                    4,
                    cell -> new Family(cell[1], cell[3], cell[2], Type.valueOf(cell[0].toUpperCase(Locale.ROOT))))
            .stream()
            .collect(Collectors.toMap(family -> family.metadata.getName(), family -> family));

    private final MetricMetadata metadata;
    private final Type type;

    private Family(String name, String help, String unit, Type type) {
        this.metadata = new MetricMetadata(name, help, unit.isEmpty() ? null : new Unit(unit));
        this.type = type;
    }

    /** @throws IllegalArgumentException if the table has no such family */
    private static Family of(String name) {
        Family family = TABLE.get(name);
        if (family == null) {
            throw new IllegalArgumentException(name + " is not in families.tsv");
        }
        return family;
    }

    static Family gauge(String name, String help) {
        return new Family(name, help, "", Type.GAUGE);
    }

    /** @param prefix name without the reading's label and unit */
    static Family of(String prefix, Metric metric) {
        String unit = metric.unit().base();
        String name = prefix + metric.label() + (unit.isEmpty() ? "" : "_" + unit);
        return new Family(name, metric.help(), unit, metric.kind() == Kind.COUNTER ? Type.COUNTER : Type.GAUGE);
    }

    /**
     * Returns a counter with a name of another exporter, without `_total`: untyped in the library, see {@link
     * BareCounters}.
     */
    static Family bareCounter(String name, String help) {
        return new Family(name, help, "", Type.BARE_COUNTER);
    }

    DataPointSnapshot point(Labels labels, double value) {
        return switch (type) {
            case GAUGE -> new GaugeDataPointSnapshot(value, labels, null);
            case COUNTER -> new CounterDataPointSnapshot(value, labels, null, 0);
            case BARE_COUNTER -> new UnknownDataPointSnapshot(value, labels, null);
            case INFO -> new InfoDataPointSnapshot(labels);
            case SUMMARY -> throw new IllegalArgumentException(metadata.getName() + " has more than one value");
        };
    }

    MetricSnapshot snapshot(List<DataPointSnapshot> points) {
        return switch (type) {
            case GAUGE -> new GaugeSnapshot(metadata, cast(points, GaugeDataPointSnapshot.class));
            case COUNTER -> new CounterSnapshot(metadata, cast(points, CounterDataPointSnapshot.class));
            case BARE_COUNTER -> new UnknownSnapshot(metadata, cast(points, UnknownDataPointSnapshot.class));
            case INFO -> new InfoSnapshot(metadata, cast(points, InfoDataPointSnapshot.class));
            case SUMMARY -> new SummarySnapshot(metadata, cast(points, SummaryDataPointSnapshot.class));
        };
    }

    private static <T> List<T> cast(List<DataPointSnapshot> points, Class<T> type) {
        List<T> typed = new ArrayList<>(points.size());
        for (DataPointSnapshot point : points) {
            typed.add(type.cast(point));
        }
        return typed;
    }

    /** The series of one collector, by family. */
    public static final class Series {

        private static final double[] QUANTILES = {0.5, 0.9, 0.99, 1};

        private final Map<Family, List<DataPointSnapshot>> points = new IdentityHashMap<>();
        private int duplicates;

        void add(String name, double value) {
            add(name, Labels.EMPTY, value);
        }

        /** @param name a name of `families.tsv` */
        void add(String name, Labels labels, double value) {
            add(of(name), labels, value);
        }

        void add(Family family, Labels labels, double value) {
            add(family, family.point(labels, value));
        }

        /** Adds durations in seconds: count, sum and some quantiles. */
        void add(String name, Labels labels, Histogram micros) {
            long count = micros.getTotalCount();
            Quantile[] quantiles = new Quantile[count == 0 ? 0 : QUANTILES.length];
            for (int i = 0; i < quantiles.length; i++) {
                quantiles[i] = new Quantile(QUANTILES[i], micros.getValueAtPercentile(100 * QUANTILES[i]) / 1e6);
            }
            double sum = count == 0 ? 0 : micros.getMean() * count / 1e6;
            add(
                    of(name),
                    new SummaryDataPointSnapshot(count, sum, Quantiles.of(quantiles), labels, Exemplars.EMPTY, 0));
        }

        private void add(Family family, DataPointSnapshot point) {
            points.computeIfAbsent(family, f -> new ArrayList<>()).add(point);
        }

        List<MetricSnapshot> snapshots() {
            List<MetricSnapshot> snapshots = new ArrayList<>(points.size());
            points.forEach((family, list) -> snapshots.add(snapshot(family, list)));
            return snapshots;
        }

        /**
         * Returns the number of series left out because an earlier one has the same labels: two GPUs that report the
         * same identity.
         */
        int duplicates() {
            return duplicates;
        }

        private MetricSnapshot snapshot(Family family, List<DataPointSnapshot> list) {
            try {
                return family.snapshot(list);
            } catch (DuplicateLabelsException e) {
                Map<Labels, DataPointSnapshot> distinct = new LinkedHashMap<>();
                list.forEach(point -> distinct.putIfAbsent(point.getLabels(), point));
                duplicates += list.size() - distinct.size();
                return family.snapshot(List.copyOf(distinct.values()));
            }
        }
    }
}
