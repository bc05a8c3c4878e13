package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.Outbox.Lag;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The table of receivers and their acknowledgements. */
final class OutboxTable {

    private final Sql sql;
    private final Map<String, Receiver> receivers = new TreeMap<>();

    /** @param waiting the number of stored events that it has not acknowledged */
    private record Receiver(long acknowledged, long waiting, long dropped) {}

    OutboxTable(Sql sql) throws SQLException {
        this.sql = sql;
        sql.list(
                "SELECT name, acknowledged, dropped, (SELECT count(*) FROM events WHERE sequence > acknowledged)"
                        + " FROM receivers",
                row -> receivers.put(row.getString(1), new Receiver(row.getLong(2), row.getLong(4), row.getLong(3))));
    }

    boolean knows(String name) {
        return receivers.containsKey(name);
    }

    void register(String name, long acknowledged, long dropped) throws SQLException {
        if (!knows(name)) {
            write(name, new Receiver(acknowledged, waiting(acknowledged), dropped));
        }
    }

    /**
     * Acknowledges events. Numbers below the last acknowledgement change nothing, and numbers beyond the last event
     * count as that event.
     */
    void acknowledge(String name, long sequence, long lastSequence) throws SQLException {
        Receiver receiver = receivers.get(name);
        if (receiver == null) {
            throw new IllegalArgumentException("receiver '" + name + "' is not registered");
        }
        long upTo = Math.min(sequence, lastSequence);
        if (upTo > receiver.acknowledged) {
            // Only the newly acknowledged events are counted: those that wait may be the whole history.
            long taken = sql.number(
                    "SELECT count(*) FROM events WHERE sequence > ? AND sequence <= ?", receiver.acknowledged, upTo);
            write(name, new Receiver(upTo, receiver.waiting - taken, receiver.dropped));
        }
    }

    void keep(Set<String> names) throws SQLException {
        for (String name : List.copyOf(receivers.keySet())) {
            if (!names.contains(name)) {
                receivers.remove(name);
                sql.update("DELETE FROM receivers WHERE name = ?", name);
            }
        }
    }

    /** Counts a stored event for every receiver. */
    void stored() {
        receivers.replaceAll(
                (name, receiver) -> new Receiver(receiver.acknowledged, receiver.waiting + 1, receiver.dropped));
    }

    /** Counts an event that is deleted for lack of room. */
    void dropped(long sequence) throws SQLException {
        for (Map.Entry<String, Receiver> entry : Map.copyOf(receivers).entrySet()) {
            Receiver receiver = entry.getValue();
            if (sequence > receiver.acknowledged) {
                write(entry.getKey(), new Receiver(receiver.acknowledged, receiver.waiting - 1, receiver.dropped + 1));
            }
        }
    }

    /** Returns the last event that all receivers have acknowledged. */
    long acknowledgedByAll() {
        return receivers.values().stream()
                .mapToLong(Receiver::acknowledged)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Returns the last acknowledged event of each receiver. */
    Map<String, Long> acknowledged() {
        Map<String, Long> all = new TreeMap<>();
        receivers.forEach((name, receiver) -> all.put(name, receiver.acknowledged));
        return all;
    }

    Map<String, Lag> lags() {
        Map<String, Lag> lags = new TreeMap<>();
        receivers.forEach((name, receiver) -> lags.put(name, new Lag(receiver.waiting, receiver.dropped)));
        return lags;
    }

    private void write(String name, Receiver receiver) throws SQLException {
        receivers.put(name, receiver);
        sql.update(
                "INSERT OR REPLACE INTO receivers (name, acknowledged, dropped) VALUES (?, ?, ?)",
                name,
                receiver.acknowledged,
                receiver.dropped);
    }

    private long waiting(long acknowledged) throws SQLException {
        return sql.number("SELECT count(*) FROM events WHERE sequence > ?", acknowledged);
    }
}
