package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Events that somebody hands in, and how far their source was read with them. */
class AppendRequest extends WriteRequest<List<Receipt>> {

    private final List<PreparedEvent> events;
    private final List<Fingerprint> merged = new ArrayList<>();
    private final List<EventChange> told = new ArrayList<>();
    private Optional<Position> position;
    private List<Receipt> receipts = List.of();
    private boolean held;

    AppendRequest(List<PreparedEvent> events, Optional<Position> position) {
        this.events = new ArrayList<>(events);
        this.position = position;
    }

    @Override
    List<Receipt> write(Session session, Instant now) throws SQLException {
        told.clear();
        List<Receipt> all = new ArrayList<>(events.size());
        for (PreparedEvent event : events) {
            Session.Filed filed = session.file(event, now);
            all.add(filed.receipt());
            filed.told().ifPresent(told::add);
        }
        for (Fingerprint telling : merged) {
            session.remember(telling);
        }
        if (position.isPresent()) {
            session.position(position.get());
        }
        receipts = all;
        return all;
    }

    /** Counts what was taken, once. */
    void count(StoreStats stats, EventCounts counts) {
        if (held) {
            return;
        }
        for (int i = 0; i < events.size(); i++) {
            count(events.get(i), receipts.get(i), stats, counts);
        }
    }

    /** It is in memory now: its sender learns that, and is not told again when it is written. */
    void held(List<PreparedEvent> all, List<Receipt> inMemory, StoreStats stats, EventCounts counts) {
        held = true;
        for (int i = 0; i < inMemory.size(); i++) {
            count(all.get(i), inMemory.get(i), stats, counts);
        }
        complete(inMemory);
    }

    private static void count(PreparedEvent event, Receipt receipt, StoreStats stats, EventCounts counts) {
        stats.receipt(receipt);
        if (receipt != Receipt.DUPLICATE && receipt != Receipt.REFUSED) {
            counts.add(event.event(), event.times());
        }
    }

    /** What listeners hear once it is committed. */
    List<EventChange> told() {
        return told;
    }

    /** Those that are still to be written. */
    List<PreparedEvent> events() {
        return events;
    }

    /** Tellings that were counted with one of these events while they were held. */
    List<Fingerprint> merged() {
        return merged;
    }

    Optional<Position> position() {
        return position;
    }

    void moveOn(Position further) {
        position = Optional.of(further);
    }

    long bytes() {
        return events.stream().mapToLong(PreparedEvent::bytes).sum();
    }
}
