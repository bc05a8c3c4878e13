package dev.gpuwarden.checks.verify;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The runs of the checks with a load on each pending part. Those before the last repair of a part prove nothing. One thread. */
final class PartAttempts {

    private final Map<List<Entity>, LoadAttempts> parts = new HashMap<>();
    private Set<HealthEvent> known = Set.of();

    /** Sets the causes of all pending faults, and drops the runs on each part that has a new one. */
    void pending(Set<HealthEvent> causes) {
        causes.stream()
                .filter(cause -> !known.contains(cause))
                .forEach(cause -> parts.keySet().removeIf(part -> Verification.concerns(part, cause)));
        known = Set.copyOf(causes);
    }

    LoadAttempts of(HealthEvent cause) {
        return parts.computeIfAbsent(cause.entities(), part -> new LoadAttempts());
    }

    void verified(HealthEvent cause) {
        parts.remove(cause.entities());
    }

    void clear() {
        parts.clear();
        known = Set.of();
    }
}
