package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.UplinkStep.Reason;
import io.grpc.Status;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/** Counts since the start, for metrics. Thread-safe. */
public final class IngestMetrics {

    /** An hour, in microseconds; longer durations count as an hour. */
    private static final long LONGEST_MICROS = 3_600_000_000L;

    public final LongAdder events = new LongAdder();
    public final LongAdder generations = new LongAdder();
    public final LongAdder writes = new LongAdder();

    /** The refused messages, by reason. */
    public final Counts refusals = new Counts();

    /** The streams that this side ended, by status. */
    public final Counts endings = new Counts();

    /** The requests for the holders of a node's GPUs, by outcome. */
    public final Counts lookups = new Counts();

    /** The tokens that users have shown to nodes, by the outcome of their review. */
    public final Counts reviews = new Counts();

    /** The writes that the API server did not accept, by its answer. */
    public final Counts failures = new Counts();

    private final Histogram written = new Histogram(LONGEST_MICROS, 2);

    void refused(Reason reason) {
        refusals.add(reason.name().toLowerCase(java.util.Locale.ROOT));
    }

    void ended(Status.Code code) {
        endings.add(code.name());
    }

    /** Records the time from a write's first report until the API server has it. */
    void written(long nanos) {
        writes.increment();
        synchronized (written) {
            written.recordValue(Math.max(0, Math.min(LONGEST_MICROS, nanos / 1000)));
        }
    }

    /** Returns the durations of writes, in microseconds. */
    public Histogram written() {
        synchronized (written) {
            return written.copy();
        }
    }

    /** Counts by a label. Thread-safe. */
    public static final class Counts {

        private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

        void add(String label) {
            counts.computeIfAbsent(label, any -> new LongAdder()).increment();
        }

        public Map<String, Long> sums() {
            Map<String, Long> sums = new TreeMap<>();
            counts.forEach((label, count) -> sums.put(label, count.sum()));
            return sums;
        }
    }
}
