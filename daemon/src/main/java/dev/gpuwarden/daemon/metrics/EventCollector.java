package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.daemon.store.StoreStats.EventCounts;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Events by content, and the current faults. Senders choose the names, so the number of both is bounded. */
public record EventCollector(Supplier<Map<EventCounts.Kind, Long>> counts, Supplier<List<Fault>> faults) {

    /**
     * The bound on series, fatal faults first, then the newest. Faults beyond it share one series for fatal and one for
     * other faults.
     */
    private static final int MOST_FAULTS = 500;

    private static final String OTHER = "other";

    public Collector collector() {
        return new Collector("event", this::collect);
    }

    private void collect(Collector.Scrape scrape, Family.Series out) {
        counts.get().forEach((kind, count) -> out.add("gpuwarden_events", labels(kind), count));
        Map<Labels, Integer> sums = new LinkedHashMap<>();
        for (Fault fault : faults.get().stream().sorted(Fault.FATAL_THEN_NEWEST).toList()) {
            boolean listed = sums.size() < MOST_FAULTS;
            sums.merge(listed ? labels(fault) : beyond(fault), 1, Integer::sum);
        }
        sums.forEach((labels, count) -> out.add("gpuwarden_faults", labels, count));
    }

    private static Labels labels(EventCounts.Kind kind) {
        return Labels.of(
                "agent", kind.agent(),
                "check", kind.check(),
                "code", kind.codes(),
                "fatal", String.valueOf(kind.fatal()),
                "healthy", String.valueOf(kind.healthy()));
    }

    private static Labels labels(Fault fault) {
        FaultKey key = fault.key();
        return labels(
                fault.cause(),
                key.agent(),
                key.componentClass(),
                key.checkName(),
                key.errorCode(),
                key.entity().type(),
                key.entity().value(),
                fault.cause().action().label());
    }

    private static Labels beyond(Fault fault) {
        return labels(fault.cause(), OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER);
    }

    private static Labels labels(
            HealthEvent cause,
            String agent,
            String component,
            String check,
            String code,
            String entityType,
            String entity,
            String action) {
        return Labels.of(
                "acted_on", String.valueOf(cause.strategy().actedOn()),
                "action", action,
                "agent", agent,
                "check", check,
                "code", code,
                "component", component,
                "entity", entity,
                "entity_type", entityType,
                "fatal", String.valueOf(cause.fatal()));
    }
}
