package dev.gpuwarden.daemon.metrics;

import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Gathers the series of one collector. */
final class Families {

    private final Map<Family, List<DataPointSnapshot>> points = new IdentityHashMap<>();

    void add(Family family, Labels labels, double value) {
        add(family, family.point(labels, value));
    }

    void add(Family family, DataPointSnapshot point) {
        points.computeIfAbsent(family, f -> new ArrayList<>()).add(point);
    }

    /** Throws where two series have the same labels. */
    List<MetricSnapshot> snapshots() {
        List<MetricSnapshot> snapshots = new ArrayList<>(points.size());
        points.forEach((family, list) -> snapshots.add(family.snapshot(list)));
        return snapshots;
    }
}
