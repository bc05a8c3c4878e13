package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Change;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.MissedFaults;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.daemon.store.PreparedEvent.Fingerprint;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The open database, with the committed state and the open transaction. Used by the writer's thread only. After any
 * error it is closed and another one opened, so its memory always equals the file.
 */
final class Session implements AutoCloseable {

    /** The faults that one transaction raises again at most. */
    private static final int MOST_AGAIN = 256;

    private final Sql sql;
    private final Duration repeatWindow;
    private final EventTable events;
    private final FaultRows faults;
    private final OutboxTable outbox;
    private final LeftOutTable leftOut;
    private final Map<String, Position> positions = new HashMap<>();
    private final Set<FaultKey> touched = new LinkedHashSet<>();
    private KnownGpus gpus;
    private long lastSequence;
    /** True once this transaction has stored the number in its table, so that its event may be deleted. */
    private boolean lastSequenceKept;

    private long count;
    private List<Fault> published = List.of();

    /** The outcome for one event, and the change that listeners receive. */
    record Filed(Receipt receipt, Optional<EventChange> change) {}

    private final boolean isNew;

    private Session(Sql sql, boolean isNew, Duration repeatWindow) throws SQLException {
        this.sql = sql;
        this.isNew = isNew;
        this.repeatWindow = repeatWindow;
        events = new EventTable(sql);
        faults = new FaultRows(sql, events);
        outbox = new OutboxTable(sql);
        leftOut = new LeftOutTable(sql);
        gpus = readGpus(sql);
        sql.list(
                "SELECT source, boot_id, cursor FROM positions",
                row -> positions.put(
                        row.getString(1), new Position(row.getString(1), row.getString(2), row.getString(3))));
        lastSequence = Math.max(
                sql.number("SELECT max(value) FROM last_sequence"), sql.number("SELECT max(sequence) FROM events"));
        count = sql.number("SELECT count(*) FROM events");
        published = faults.table().faults();
    }

    /**
     * @param place a file's absolute path, or `:memory:`
     * @param beginAt the last sequence number of a new store
     */
    static Session open(String place, Duration repeatWindow, long beginAt) throws SQLException {
        Sql sql = Sql.open(place);
        try {
            boolean isNew = Schema.prepare(sql, place, beginAt);
            String complaint = Schema.complaint(sql);
            if (!complaint.isEmpty()) {
                throw Sql.ErrorKind.corrupt(complaint);
            }
            Session session = new Session(sql, isNew, repeatWindow);
            sql.transactions();
            return session;
        } catch (SQLException | RuntimeException e) {
            try {
                sql.close();
            } catch (SQLException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    /** Stores an event, or counts it as a repetition, and applies it to the faults. */
    Filed file(PreparedEvent incoming, Instant now) throws SQLException {
        if (events.has(incoming.telling())) {
            return new Filed(Receipt.DUPLICATE, Optional.empty());
        }
        FaultTable table = faults.table();
        Optional<Long> same = toCount(incoming, table.preview(incoming.event()), now);
        if (same.isPresent() && events.count(same.get(), incoming.times(), now)) {
            events.remember(incoming.telling());
            Change change = table.apply(incoming.event(), same.get(), now);
            touched.addAll(change.keys());
            return new Filed(Receipt.COUNTED, events.get(same.get()).map(stored -> new EventChange(stored, change)));
        }
        PreparedEvent own =
                incoming.idIsGiven() && events.hasId(incoming.event().id()) ? incoming.withOwnId(now) : incoming;
        StoredEvent stored = insert(own, now, now);
        Change change = table.apply(own.event(), stored.sequence(), now);
        faults.stored(change.keys(), stored.sequence());
        touched.addAll(change.keys());
        leftOut.stored(stored, change);
        return new Filed(Receipt.STORED, Optional.of(new EventChange(stored, change)));
    }

    /** Returns true if faults that found no room may have room now. */
    boolean mayRaiseAgain() {
        return leftOut.mayFit();
    }

    /** Returns true if {@link #raiseAgain} has more of the history to scan. */
    boolean isScanning() {
        return leftOut.isScanning();
    }

    /** Scans a part of the history; at its end, stores faults that have room now once more and removes those that ended. */
    List<Filed> raiseAgain(Instant now) throws SQLException {
        List<Filed> filed = new ArrayList<>();
        for (MissedFaults.Waiting waiting : leftOut.scan(faults.table()).orElse(List.of())) {
            for (HealthEvent event : waiting.fitting(faults.table(), now)) {
                filed.add(file(PreparedEvent.of(event, now), now));
            }
            if (filed.size() >= MOST_AGAIN) {
                leftOut.scanAgain();
                break;
            }
        }
        return filed;
    }

    private StoredEvent insert(PreparedEvent incoming, Instant received, Instant lastSeen) throws SQLException {
        lastSequence++;
        count++;
        events.insert(lastSequence, incoming, received, lastSeen);
        outbox.stored();
        return new StoredEvent(lastSequence, incoming.event(), received, lastSeen, incoming.times());
    }

    /** Returns the event with which this one is counted; empty if it is new. */
    private Optional<Long> toCount(PreparedEvent incoming, Change preview, Instant now) throws SQLException {
        if (preview.effect() != Effect.REPEATED) {
            return Optional.empty();
        }
        HealthEvent event = incoming.event();
        if (event.healthy()) {
            return events.lastHealthy(incoming.subject())
                    // The end of a fault that found no room must be in the history.
                    .filter(last -> soon(last.lastSeen(), now) && last.sequence() > leftOut.newest())
                    .map(EventTable.Last::sequence);
        }
        boolean all = preview.keys().size() == new HashSet<>(event.keys()).size();
        boolean soon = preview.keys().stream()
                .allMatch(key -> faults.table()
                        .fault(key)
                        .filter(fault -> soon(fault.lastSeen(), now))
                        .isPresent());
        return all && soon ? faults.latest(preview.keys()) : Optional.empty();
    }

    /** Returns true within the repeat window, also for a clock that was set back by less. */
    private boolean soon(Instant last, Instant now) {
        return Duration.between(last, now).abs().compareTo(repeatWindow) < 0;
    }

    /** Remembers an event that was counted in memory, so that it is recognized when it arrives again. */
    void remember(Fingerprint telling) throws SQLException {
        if (!events.has(telling)) {
            events.remember(telling);
        }
    }

    void position(Position position) throws SQLException {
        positions.put(position.source(), position);
        sql.update(
                "INSERT OR REPLACE INTO positions (source, boot_id, cursor) VALUES (?, ?, ?)",
                position.source(),
                position.bootId(),
                position.cursor());
    }

    /** Writes the faults of a lost store, with their events, into this one. */
    void adopt(List<Fault> orphans, Instant now) throws SQLException {
        for (List<Fault> ofEvent : FaultRows.byCause(orphans).values()) {
            Fault first = ofEvent.get(0);
            StoredEvent stored = insert(PreparedEvent.of(first.cause(), now), first.since(), first.lastSeen());
            for (Fault fault : ofEvent) {
                Fault moved = new Fault(
                        fault.key(),
                        stored.event(),
                        stored.sequence(),
                        fault.since(),
                        fault.lastSeen(),
                        fault.occurrences());
                faults.restore(moved, stored.sequence());
                touched.add(fault.key());
            }
        }
    }

    /** Stores a recording. Returns false if the event is gone. */
    boolean attach(long sequence, byte[] recording) throws SQLException {
        if (!sql.exists("SELECT 1 FROM events WHERE sequence = ?", sequence)) {
            return false;
        }
        sql.update("INSERT OR REPLACE INTO recordings (event, bytes) VALUES (?, ?)", sequence, recording);
        return true;
    }

    /** Deletes an event with its recording. */
    void delete(long sequence) throws SQLException {
        if (!lastSequenceKept) {
            sql.update("UPDATE last_sequence SET value = ?", lastSequence);
            lastSequenceKept = true;
        }
        count -= sql.update("DELETE FROM events WHERE sequence = ?", sequence);
        sql.update("DELETE FROM recordings WHERE event = ?", sequence);
        leftOut.deleted(sequence);
    }

    void commit() throws SQLException {
        faults.write(touched);
        leftOut.count();
        sql.commit();
        lastSequenceKept = false;
        if (!touched.isEmpty()) {
            touched.clear();
            published = faults.table().faults();
        }
    }

    /** Returns true if the file was empty when it was opened. */
    boolean isNew() {
        return isNew;
    }

    Sql sql() {
        return sql;
    }

    OutboxTable outbox() {
        return outbox;
    }

    List<Fault> faults() {
        return published;
    }

    /** Returns the node's GPUs. */
    KnownGpus gpus() {
        return gpus;
    }

    void keep(KnownGpus known) throws SQLException {
        sql.update("DELETE FROM gpus");
        for (KnownGpus.Known gpu : known.gpus()) {
            sql.update(
                    "INSERT INTO gpus (pci, gpu_index, uuid, name, serial) VALUES (?, ?, ?, ?, ?)",
                    gpu.pci().toString(),
                    gpu.index(),
                    gpu.uuid(),
                    gpu.name().orElse(null),
                    gpu.serial().orElse(null));
        }
        gpus = known;
    }

    LeftOut leftOut() {
        return leftOut.counted();
    }

    Map<String, Position> positions() {
        return positions;
    }

    long lastSequence() {
        return lastSequence;
    }

    /** Returns the number of events in the history. */
    long count() {
        return count;
    }

    @Override
    public void close() throws SQLException {
        sql.close();
    }

    /** Returns the node's GPUs as they last reported themselves. */
    private static KnownGpus readGpus(Sql sql) throws SQLException {
        List<KnownGpus.Known> known = new ArrayList<>();
        sql.forEach("SELECT pci, gpu_index, uuid, name, serial FROM gpus LIMIT " + KnownGpus.MOST, row -> {
            Optional<PciAddress> pci = PciAddress.parse(row.getString(1));
            if (pci.isPresent()) {
                known.add(new KnownGpus.Known(
                        row.getInt(2),
                        pci.get(),
                        row.getString(3),
                        Optional.ofNullable(row.getString(4)),
                        Optional.ofNullable(row.getString(5))));
            }
        });
        return new KnownGpus(known);
    }
}
