package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.json.Trees;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * What the Lease of the aggregators says.
 *
 * @param holder empty where nobody holds it
 * @param until for how long it is held
 */
record Leader(String holder, Instant until) {

    /** The clock here may go wrong a little. */
    private static final Duration SKEW = Duration.ofSeconds(15);

    /** Empty where it says nothing. */
    static Optional<Leader> of(Map<String, Object> lease) {
        Map<String, Object> spec = Trees.object(lease, "spec");
        try {
            Instant renewed = Instant.parse(Trees.text(spec, "renewTime"));
            return Optional.of(new Leader(
                    Trees.text(spec, "holderIdentity"),
                    renewed.plusSeconds(Trees.number(spec, "leaseDurationSeconds"))));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    boolean leads(Instant now) {
        return !holder.isEmpty() && until.plus(SKEW).isAfter(now);
    }
}
