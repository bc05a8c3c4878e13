package dev.gpuwarden.daemon.history;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.time.Duration;
import java.util.stream.IntStream;

/**
 * The fast readings of the last {@link #SPAN}, sample by sample; one in 100 ms if sampling is faster. Not
 * thread-safe; adding allocates nothing.
 */
final class SampleSeries {

    static final Duration SPAN = Duration.ofSeconds(90);
    private static final Duration CLOSEST = Duration.ofMillis(100);

    /** The stored readings, in the order of a row. */
    static final GpuMetric[] METRICS = IntStream.range(0, GpuMetric.count())
            .mapToObj(GpuMetric::of)
            .filter(metric -> metric.cadence() == Cadence.FAST)
            .toArray(GpuMetric[]::new);

    // A row: the time, then each cause of absence in a byte, then each value.
    static final int TIME = 0;
    static final int CAUSES = 2;
    static final int VALUES = CAUSES + (METRICS.length + 3) / 4;
    private static final int WIDTH = VALUES + 2 * METRICS.length;

    private final RingBuffer ring;
    private final long closestNanos;

    SampleSeries(Duration interval) {
        Duration distance = interval.compareTo(CLOSEST) < 0 ? CLOSEST : interval;
        ring = new RingBuffer((int) SPAN.dividedBy(distance) + 1, WIDTH);
        closestNanos = interval.compareTo(CLOSEST) < 0 ? CLOSEST.toNanos() : 0;
    }

    void note(long nanos, GpuFrame frame) {
        if (ring.held() > 0 && nanos - ring.getLong(0, TIME) < closestNanos) {
            return;
        }
        ring.advance();
        ring.putLong(TIME, nanos);
        int causes = 0;
        for (int i = 0; i < METRICS.length; i++) {
            int slot = METRICS[i].ordinal();
            causes |= frame.absence(slot).ordinal() << 8 * (i % 4);
            ring.putLong(VALUES + 2 * i, frame.raw(slot));
            if (i % 4 == 3 || i == METRICS.length - 1) {
                ring.put(CAUSES + i / 4, causes);
                causes = 0;
            }
        }
    }

    RingBuffer copy() {
        return ring.copy();
    }

    int bytes() {
        return ring.bytes();
    }
}
