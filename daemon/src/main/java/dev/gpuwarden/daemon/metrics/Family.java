package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.telemetry.Kind;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot.UnknownDataPointSnapshot;
import java.util.ArrayList;
import java.util.List;

/** A metric's name, unit, help and type, made once; the writer adds `_total` to counters and `_info` to infos. */
final class Family {

    private enum Type {
        GAUGE,
        COUNTER,
        BARE_COUNTER,
        INFO,
        SUMMARY
    }

    private final MetricMetadata metadata;
    private final Type type;

    private Family(String name, String help, String unit, Type type) {
        this.metadata = new MetricMetadata(name, help, unit.isEmpty() ? null : new Unit(unit));
        this.type = type;
    }

    static Family gauge(String name, String help) {
        return new Family(name, help, "", Type.GAUGE);
    }

    /** @param name without unit */
    static Family gauge(String name, String unit, String help) {
        return new Family(named(name, unit), help, unit, Type.GAUGE);
    }

    /** @param name without `_total` */
    static Family counter(String name, String help) {
        return new Family(name, help, "", Type.COUNTER);
    }

    /** @param name without unit and `_total` */
    static Family counter(String name, String unit, String help) {
        return new Family(named(name, unit), help, unit, Type.COUNTER);
    }

    static Family of(Kind kind, String name, String unit, String help) {
        return kind == Kind.COUNTER ? counter(name, unit, help) : gauge(name, unit, help);
    }

    /** For counters whose names others gave, without `_total`: untyped to the library, see {@link BareCounters}. */
    static Family bareCounter(String name, String help) {
        return new Family(name, help, "", Type.BARE_COUNTER);
    }

    /** @param name without `_info` */
    static Family info(String name, String help) {
        return new Family(name, help, "", Type.INFO);
    }

    static Family summary(String name, String unit, String help) {
        return new Family(named(name, unit), help, unit, Type.SUMMARY);
    }

    private static String named(String name, String unit) {
        return unit.isEmpty() ? name : name + "_" + unit;
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
}
