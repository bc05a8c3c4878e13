package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.client.JsonTrees;
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
public record Leader(String holder, Instant until) {

    /** The clock here may go wrong a little. */
    private static final Duration SKEW = Duration.ofSeconds(15);

    /** Empty where it says nothing. */
    public static Optional<Leader> of(Map<String, Object> lease) {
        Map<String, Object> spec = JsonTrees.object(lease, "spec");
        try {
            Instant renewed = Instant.parse(JsonTrees.text(spec, "renewTime"));
            return Optional.of(new Leader(
                    JsonTrees.text(spec, "holderIdentity"),
                    renewed.plusSeconds(JsonTrees.number(spec, "leaseDurationSeconds"))));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    public boolean leads(Instant now) {
        return !holder.isEmpty() && until.plus(SKEW).isAfter(now);
    }
}
