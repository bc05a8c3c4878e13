package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import java.io.IOException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/** The table of events. */
final class EventTable {

    private static final System.Logger LOG = System.getLogger(EventTable.class.getName());

    /** The columns that {@link #read} reads, in this order. */
    static final String COLUMNS = "sequence, received, last_seen, occurrences, id, agent, component, check_name, node,"
            + " healthy, fatal, action, codes, entities, body";

    /** The number of remembered fingerprints of events that were counted with another one. */
    private static final int REPEATS = 10_000;

    private final Sql sql;
    private long repeats;

    EventTable(Sql sql) throws SQLException {
        this.sql = sql;
        this.repeats = sql.number("SELECT max(number) FROM repeats");
    }

    /** The last event about a subject. */
    record Last(long sequence, Instant lastSeen) {}

    /** Returns true if the event with this fingerprint arrived before. */
    boolean has(Fingerprint telling) throws SQLException {
        byte[] bytes = telling.bytes();
        return sql.exists("SELECT 1 FROM events WHERE telling = ?", (Object) bytes)
                || sql.exists("SELECT 1 FROM repeats WHERE telling = ?", (Object) bytes);
    }

    boolean hasId(String id) throws SQLException {
        return sql.exists("SELECT 1 FROM events WHERE id = ?", id);
    }

    Optional<Last> lastHealthy(Fingerprint subject) throws SQLException {
        return sql.first(
                "SELECT sequence, last_seen FROM events WHERE subject = ? ORDER BY sequence DESC LIMIT 1",
                row -> new Last(row.getLong(1), Sql.instant(row.getLong(2))),
                (Object) subject.bytes());
    }

    Optional<StoredEvent> get(long sequence) throws SQLException {
        return sql.first("SELECT " + COLUMNS + " FROM events WHERE sequence = ?", EventTable::read, sequence);
    }

    void insert(long sequence, PreparedEvent incoming, Instant received, Instant lastSeen) throws SQLException {
        HealthEvent event = incoming.event();
        sql.update(
                "INSERT INTO events (" + COLUMNS + ", telling, subject)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                sequence,
                Sql.micros(received),
                Sql.micros(lastSeen),
                incoming.times(),
                event.id(),
                event.agent(),
                event.componentClass(),
                event.checkName(),
                event.nodeName(),
                event.healthy(),
                event.fatal(),
                event.action().number(),
                incoming.codes(),
                incoming.entities(),
                incoming.body(),
                incoming.telling().bytes(),
                event.healthy() ? incoming.subject().bytes() : null);
    }

    /** Counts a repetition with a stored event. Returns false if that event is gone. */
    boolean count(long sequence, long times, Instant seen) throws SQLException {
        return sql.update(
                        "UPDATE events SET occurrences = occurrences + ?, last_seen = ? WHERE sequence = ?",
                        times,
                        Sql.micros(seen),
                        sequence)
                == 1;
    }

    /** Remembers a fingerprint, so that the event is recognized when it arrives again. */
    void remember(Fingerprint telling) throws SQLException {
        repeats++;
        sql.update("INSERT OR IGNORE INTO repeats (number, telling) VALUES (?, ?)", repeats, telling.bytes());
        sql.update("DELETE FROM repeats WHERE number <= ?", repeats - REPEATS);
    }

    /** Reads a row like {@link #read}, but skips one that cannot be read, so that it does not hide the others. */
    static Optional<StoredEvent> readable(ResultSet row) throws SQLException {
        try {
            return Optional.of(read(row));
        } catch (SQLException e) {
            if (Sql.ErrorKind.of(e) != Sql.ErrorKind.CORRUPT) {
                throw e;
            }
            LOG.log(System.Logger.Level.WARNING, "left out: {0}", e.getMessage());
            return Optional.empty();
        }
    }

    static StoredEvent read(ResultSet row) throws SQLException {
        try {
            HealthEvent.Builder event = HealthEvent.of(row.getString(6), row.getString(7), row.getString(8))
                    .id(row.getString(5))
                    .nodeName(row.getString(9))
                    .healthy(row.getBoolean(10))
                    .fatal(row.getBoolean(11))
                    .action(RecommendedAction.of(row.getInt(12)))
                    .errorCodes(EventJson.readCodes(row.getString(13)))
                    .entities(EventJson.readEntities(row.getString(14)));
            EventJson.readBody(row.getString(15), event);
            return new StoredEvent(
                    row.getLong(1),
                    event.build(),
                    Sql.instant(row.getLong(2)),
                    Sql.instant(row.getLong(3)),
                    row.getLong(4));
        } catch (IOException | RuntimeException e) {
            throw Sql.ErrorKind.corrupt("event " + row.getLong(1) + " cannot be read: " + e);
        }
    }
}
