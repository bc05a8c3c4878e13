package dev.gpuwarden.daemon.metrics;

import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DuplicateLabelsException;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Gathers the series of one collector. */
final class Families {

    private final Map<Family, List<DataPointSnapshot>> points = new IdentityHashMap<>();
    private int duplicates;

    void add(Family family, Labels labels, double value) {
        add(family, family.point(labels, value));
    }

    void add(Family family, DataPointSnapshot point) {
        points.computeIfAbsent(family, f -> new ArrayList<>()).add(point);
    }

    List<MetricSnapshot> snapshots() {
        List<MetricSnapshot> snapshots = new ArrayList<>(points.size());
        points.forEach((family, list) -> snapshots.add(snapshot(family, list)));
        return snapshots;
    }

    /** Series left out because another of the same labels was there before: two GPUs that say they are the same one. */
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
