package dev.gpuwarden.checks.history;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One GPU's fast readings in the last {@link #SPAN}, oldest first; one in 100 ms if sampling is faster. Not
 * thread-safe; {@link #note} allocates nothing.
 */
public final class RecentSamples {

    static final Duration SPAN = Duration.ofSeconds(90);
    private static final Duration CLOSEST = Duration.ofMillis(100);

    /** The stored readings, in the order of a row. */
    private static final List<GpuMetric> METRICS = IntStream.range(0, GpuMetric.count())
            .mapToObj(GpuMetric::of)
            .filter(metric -> metric.cadence() == Cadence.FAST)
            .toList();

    // A row: the time, then each cause of absence in a byte, then each value.
    private static final int TIME = 0;
    private static final int CAUSES = 2;
    private static final int VALUES = CAUSES + (METRICS.size() + 3) / 4;

    /** The empty list of an unknown GPU. */
    public static final RecentSamples NONE = new RecentSamples(new RingBuffer(1, 1), 0);

    private final RingBuffer ring;
    private final long closestNanos;

    private RecentSamples(RingBuffer ring, long closestNanos) {
        this.ring = ring;
        this.closestNanos = closestNanos;
    }

    /** Returns an empty series to {@link #note} samples in. */
    static RecentSamples every(Duration interval) {
        boolean close = interval.compareTo(CLOSEST) < 0;
        int rows = (int) SPAN.dividedBy(close ? CLOSEST : interval) + 1;
        return new RecentSamples(new RingBuffer(rows, VALUES + 2 * METRICS.size()), close ? CLOSEST.toNanos() : 0);
    }

    void note(long nanos, GpuFrame frame) {
        if (ring.held() > 0 && nanos - ring.getLong(0, TIME) < closestNanos) {
            return;
        }
        ring.advance();
        ring.putLong(TIME, nanos);
        int causes = 0;
        for (int i = 0; i < METRICS.size(); i++) {
            int slot = METRICS.get(i).ordinal();
            causes |= frame.absence(slot).ordinal() << 8 * (i % 4);
            ring.putLong(VALUES + 2 * i, frame.raw(slot));
            if (i % 4 == 3 || i == METRICS.size() - 1) {
                ring.put(CAUSES + i / 4, causes);
                causes = 0;
            }
        }
    }

    RecentSamples copy() {
        return new RecentSamples(ring.copy(), closestNanos);
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
        return ring.getLong(age(sample), TIME);
    }

    /** @param metric one of {@link #metrics()} */
    public Reading<Long> reading(int sample, GpuMetric metric) {
        int place = METRICS.indexOf(metric);
        if (place < 0) {
            throw new IllegalArgumentException("samples do not have " + metric.label());
        }
        int causes = ring.get(age(sample), CAUSES + place / 4);
        Absence cause = Absence.of(causes >>> 8 * (place % 4) & 0xff);
        return cause == Absence.PRESENT
                ? Reading.of(ring.getLong(age(sample), VALUES + 2 * place))
                : Reading.absent(cause);
    }

    private int age(int sample) {
        if (sample < 0 || sample >= size()) {
            throw new IndexOutOfBoundsException("sample " + sample + " of " + size());
        }
        return size() - 1 - sample;
    }
}
