package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A store in memory with the guarantees of the real one: events and position together, each event once, faults as levels. */
final class RecordingIntake implements EventWriter {

    private final Clock clock;
    private final FaultTable table = new FaultTable();
    private final List<HealthEvent> events = new ArrayList<>();
    private final Set<String> ids = new HashSet<>();
    private final Map<String, Position> positions = new HashMap<>();
    private int calls;
    private int failures;

    RecordingIntake(Clock clock) {
        this.clock = clock;
    }

    @Override
    public synchronized List<Receipt> accept(List<HealthEvent> accepted, Optional<Position> position) {
        calls++;
        if (failures > 0) {
            failures--;
            throw new IllegalStateException("the store is not available");
        }
        accepted.forEach(event -> EventLimits.violation(event).ifPresent(violation -> {
            throw new IllegalArgumentException(violation);
        }));
        List<Receipt> receipts = new ArrayList<>();
        for (HealthEvent event : accepted) {
            if (!event.id().isEmpty() && !ids.add(event.id())) {
                receipts.add(Receipt.DUPLICATE);
                continue;
            }
            events.add(event);
            table.apply(event, events.size(), clock.instant());
            receipts.add(Receipt.STORED);
        }
        position.ifPresent(p -> positions.put(p.source(), p));
        notifyAll();
        return receipts;
    }

    @Override
    public synchronized Optional<Position> position(String source) {
        return Optional.ofNullable(positions.get(source));
    }

    synchronized void put(Position position) {
        positions.put(position.source(), position);
    }

    synchronized void fail(int times) {
        failures = times;
    }

    synchronized List<HealthEvent> events() {
        return List.copyOf(events);
    }

    synchronized List<Fault> faults() {
        return table.faults();
    }

    synchronized int calls() {
        return calls;
    }

    /** Returns the number of occurrences of each code. */
    synchronized Map<String, Long> occurrences() {
        Map<String, Long> sums = new java.util.TreeMap<>();
        for (HealthEvent event : events) {
            if (!event.healthy()) {
                sums.merge(
                        event.errorCodes().get(0) + " "
                                + (event.entities().isEmpty()
                                        ? ""
                                        : event.entities().get(0).value()),
                        StoredEvent.occurrencesOf(event),
                        Long::sum);
            }
        }
        return sums;
    }
}
