package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The SQL table of current faults, together with the {@link FaultTable} that decides on them. */
final class FaultRows {

    private static final String KEY = "agent = ? AND component = ? AND check_name = ? AND node = ?"
            + " AND entity_type = ? AND entity = ? AND code = ? AND reporter = ?";

    private final Sql sql;
    private final FaultTable table = new FaultTable();
    /** The event that counts a fault's repetitions: its cause, or a later equal event. */
    private final Map<FaultKey, Long> latest = new HashMap<>();

    FaultRows(Sql sql, EventTable events) throws SQLException {
        this.sql = sql;
        Map<Long, HealthEvent> causes = new HashMap<>();
        for (Stored stored : sql.list("SELECT * FROM faults ORDER BY since, cause", Stored::read)) {
            HealthEvent cause = causes.get(stored.cause);
            if (cause == null) {
                cause = events.get(stored.cause)
                        .map(StoredEvent::event)
                        .orElseThrow(() ->
                                Sql.ErrorKind.corrupt("event " + stored.cause + " of a current fault is missing"));
                causes.put(stored.cause, cause);
            }
            restore(stored.fault(cause), stored.latest);
        }
    }

    private record Stored(FaultKey key, long cause, long latest, long since, long lastSeen, long occurrences) {

        static Stored read(ResultSet row) throws SQLException {
            return new Stored(
                    new FaultKey(
                            row.getString("agent"),
                            row.getString("component"),
                            row.getString("check_name"),
                            row.getString("node"),
                            new Entity(row.getString("entity_type"), row.getString("entity")),
                            row.getString("code"),
                            row.getString("reporter")),
                    row.getLong("cause"),
                    row.getLong("latest"),
                    row.getLong("since"),
                    row.getLong("last_seen"),
                    row.getLong("occurrences"));
        }

        Fault fault(HealthEvent event) {
            return new Fault(key, event, cause, Sql.instant(since), Sql.instant(lastSeen), occurrences);
        }
    }

    FaultTable table() {
        return table;
    }

    /** Adds a fault unchanged. */
    void restore(Fault fault, long latestEvent) {
        table.restore(fault);
        latest.put(fault.key(), latestEvent);
    }

    /** Returns the newest event that counts repetitions of these faults; empty if there are no faults. */
    Optional<Long> latest(Collection<FaultKey> keys) {
        return keys.stream().map(latest::get).max(Long::compare);
    }

    /** Sets the event with which the faults of these keys were last stored. */
    void stored(Set<FaultKey> keys, long sequence) {
        for (FaultKey key : keys) {
            if (table.fault(key).isPresent()) {
                latest.put(key, sequence);
            } else {
                latest.remove(key);
            }
        }
    }

    /** Writes the present state of these faults. */
    void write(Set<FaultKey> keys) throws SQLException {
        for (FaultKey key : keys) {
            Optional<Fault> fault = table.fault(key);
            if (fault.isPresent()) {
                write(fault.get(), latest.getOrDefault(key, fault.get().sequence()));
            } else {
                sql.update("DELETE FROM faults WHERE " + KEY, columns(key).toArray());
            }
        }
    }

    private void write(Fault fault, long latestEvent) throws SQLException {
        List<Object> row = columns(fault.key());
        row.add(fault.sequence());
        row.add(latestEvent);
        row.add(Sql.micros(fault.since()));
        row.add(Sql.micros(fault.lastSeen()));
        row.add(fault.occurrences());
        sql.update(
                "INSERT OR REPLACE INTO faults (agent, component, check_name, node, entity_type, entity, code,"
                        + " reporter, cause, latest, since, last_seen, occurrences)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row.toArray());
    }

    private static List<Object> columns(FaultKey key) {
        return new ArrayList<>(List.of(
                key.agent(),
                key.componentClass(),
                key.checkName(),
                key.nodeName(),
                key.entity().type(),
                key.entity().value(),
                key.errorCode(),
                key.reporter()));
    }

    /** Groups faults by their causes, in the order of the events. */
    static Map<Long, List<Fault>> byCause(List<Fault> faults) {
        return faults.stream().collect(Collectors.groupingBy(Fault::sequence, TreeMap::new, Collectors.toList()));
    }
}
