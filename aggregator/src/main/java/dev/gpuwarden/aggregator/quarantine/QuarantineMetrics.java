package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The counts of decisions and their durations. Thread-safe. */
public final class QuarantineMetrics {

    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(5);

    private final Map<String, LongAdder> decisions = new ConcurrentHashMap<>();
    private final LongAdder refused = new LongAdder();
    private final ConcurrentHistogram micros = new ConcurrentHistogram(LONGEST_MICROS, 2);

    public void decided(Decision decision, long nanos) {
        if (decision instanceof Decision.Act act) {
            String kind = act.kind().name().toLowerCase(Locale.ROOT) + (act.writes() ? "" : "_dry_run");
            decisions.computeIfAbsent(kind, any -> new LongAdder()).increment();
            micros.recordValue(Math.min(LONGEST_MICROS, TimeUnit.NANOSECONDS.toMicros(nanos)));
        } else if (decision instanceof Decision.Leave leave && leave.refused()) {
            refused.increment();
        }
    }

    /** Returns the number of decisions by kind. */
    public Map<String, Long> decisions() {
        Map<String, Long> counts = new TreeMap<>();
        decisions.forEach((kind, count) -> counts.put(kind, count.sum()));
        return counts;
    }

    /** Returns the number of refusals by the breaker. */
    public long refused() {
        return refused.sum();
    }

    /** Returns the durations from the read of a node's faults to the write of its Node, in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }
}
