package dev.gpuwarden.daemon.history;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.List;

/** A copy of one GPU's fast readings in the last 90 s, oldest first. */
public final class RecentSamples {

    private static final List<GpuMetric> METRICS = List.of(SampleSeries.METRICS);

    /** The empty list of an unknown GPU. */
    public static final RecentSamples NONE = new RecentSamples(new RingBuffer(1, 1));

    private final RingBuffer ring;

    RecentSamples(RingBuffer ring) {
        this.ring = ring;
    }

    /** Returns the readings that a sample has. */
    public static List<GpuMetric> metrics() {
        return METRICS;
    }

    public int size() {
        return ring.held();
    }

    /** Returns the time of a sample in the sampler's clock, which is System.nanoTime. */
    public long nanos(int sample) {
        return ring.getLong(age(sample), SampleSeries.TIME);
    }

    /** @param metric one of {@link #metrics()} */
    public Reading<Long> reading(int sample, GpuMetric metric) {
        int place = METRICS.indexOf(metric);
        if (place < 0) {
            throw new IllegalArgumentException("samples do not have " + metric.label());
        }
        int causes = ring.get(age(sample), SampleSeries.CAUSES + place / 4);
        Absence cause = Absence.of(causes >>> 8 * (place % 4) & 0xff);
        return cause == Absence.PRESENT
                ? Reading.of(ring.getLong(age(sample), SampleSeries.VALUES + 2 * place))
                : Reading.absent(cause);
    }

    private int age(int sample) {
        if (sample < 0 || sample >= size()) {
            throw new IndexOutOfBoundsException("sample " + sample + " of " + size());
        }
        return size() - 1 - sample;
    }
}
