package dev.gpuwarden.checks;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Events in memory, for tests: faults as in {@link FaultTable}, and a disk that can be full. */
public final class InMemoryEvents implements EventWriter, EventReader {

    private final FaultTable table = new FaultTable();
    private final List<HealthEvent> events = new ArrayList<>();
    public boolean full;

    @Override
    public synchronized List<Receipt> accept(List<HealthEvent> told, Optional<Position> position) {
        return told.stream().map(this::take).toList();
    }

    private Receipt take(HealthEvent event) {
        if (full) {
            return Receipt.REFUSED;
        }
        events.add(event);
        FaultTable.Change change = table.apply(event, events.size(), Instant.EPOCH);
        return change.effect() == FaultTable.Effect.REPEATED ? Receipt.COUNTED : Receipt.STORED;
    }

    synchronized List<HealthEvent> taken() {
        return List.copyOf(events);
    }

    @Override
    public synchronized List<Fault> faults() {
        return table.faults();
    }

    @Override
    public Optional<Position> position(String source) {
        return Optional.empty();
    }

    @Override
    public List<StoredEvent> events(EventFilter filter) {
        return List.of();
    }

    @Override
    public Optional<StoredEvent> event(String id) {
        return Optional.empty();
    }

    @Override
    public Subscription listen(Consumer<EventChange> listener) {
        return () -> {};
    }
}
