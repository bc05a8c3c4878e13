package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.part.Counts;
import dev.gpuwarden.aggregator.part.Timings;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/** The counts of decisions and their durations. Thread-safe. */
final class QuarantineMetrics {

    /** The decisions by kind. */
    final Counts<String> decisions = new Counts<>();

    /** The refusals by the breaker. */
    final LongAdder refused = new LongAdder();

    /** The times from the read of a node's faults to the write of its Node. */
    final Timings times = new Timings(Duration.ofMinutes(5));

    void decided(Decision decision, long nanos) {
        if (decision instanceof Decision.Act act) {
            decisions.add(act.kind().name().toLowerCase(Locale.ROOT) + (act.writes() ? "" : "_dry_run"));
            times.add(nanos);
        } else if (decision instanceof Decision.Leave leave && leave.refused()) {
            refused.increment();
        }
    }
}
