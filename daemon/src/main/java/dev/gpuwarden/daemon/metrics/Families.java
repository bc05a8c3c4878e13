package dev.gpuwarden.daemon.metrics;

import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DuplicateLabelsException;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Gathers the series of one collector. */
public final class Families {

    private static final double[] QUANTILES = {0.5, 0.9, 0.99, 1};

    private final Map<Family, List<DataPointSnapshot>> points = new IdentityHashMap<>();
    private int duplicates;

    void add(Family family, Labels labels, double value) {
        add(family, family.point(labels, value));
    }

    /** How long things took, in seconds: count, sum and some quantiles. */
    void add(Family family, Labels labels, Histogram micros) {
        long count = micros.getTotalCount();
        Quantile[] quantiles = new Quantile[count == 0 ? 0 : QUANTILES.length];
        for (int i = 0; i < quantiles.length; i++) {
            quantiles[i] = new Quantile(QUANTILES[i], micros.getValueAtPercentile(100 * QUANTILES[i]) / 1e6);
        }
        double sum = count == 0 ? 0 : micros.getMean() * count / 1e6;
        add(family, new SummaryDataPointSnapshot(count, sum, Quantiles.of(quantiles), labels, Exemplars.EMPTY, 0));
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
