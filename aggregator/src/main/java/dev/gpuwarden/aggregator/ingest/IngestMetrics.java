package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Reason;
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
    private final Map<String, LongAdder> refusals = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> endings = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> lookups = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> reviews = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();
    private final Histogram written = new Histogram(LONGEST_MICROS, 2);

    void refused(Reason reason) {
        add(refusals, reason.name().toLowerCase(java.util.Locale.ROOT));
    }

    void ended(Status.Code code) {
        add(endings, code.name());
    }

    void looked(String outcome) {
        add(lookups, outcome);
    }

    void reviewed(String outcome) {
        add(reviews, outcome);
    }

    void writeFailed(String kind) {
        add(failures, kind);
    }

    private static void add(Map<String, LongAdder> counts, String key) {
        counts.computeIfAbsent(key, any -> new LongAdder()).increment();
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

    /** Returns the refused messages, by reason. */
    public Map<String, Long> refusals() {
        return sums(refusals);
    }

    /** Returns the streams that this side ended, by status. */
    public Map<String, Long> endings() {
        return sums(endings);
    }

    /** Returns the requests for the holders of a node's GPUs, by outcome. */
    public Map<String, Long> lookups() {
        return sums(lookups);
    }

    /** Returns the tokens that users have shown to nodes, by the outcome of their review. */
    public Map<String, Long> reviews() {
        return sums(reviews);
    }

    /** Returns the writes that the API server did not accept, by its answer. */
    public Map<String, Long> failures() {
        return sums(failures);
    }

    private static Map<String, Long> sums(Map<String, LongAdder> counts) {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((key, count) -> sums.put(key, count.sum()));
        return sums;
    }
}
