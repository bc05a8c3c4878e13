package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Change;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.MissedFaults;
import dev.gpuwarden.core.event.StoredEvent;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Events of which a fault found no room among the current ones. As many as the history has: their number costs no memory, and
 * they go with their events.
 */
final class LeftOutTable {

    private static final System.Logger LOG = System.getLogger(LeftOutTable.class.getName());

    /** Events that are passed in one transaction at least: nothing else is stored meanwhile. */
    private static final int SLICE = 200;

    /** For people and labels: names are as long as reporters make them. */
    private static final int LONGEST_NAME = 200;

    private final Sql sql;
    private LeftOut counted;
    private long newest;
    private boolean changed;
    /** After a start too: what was there before may have room now. */
    private boolean mayFit;

    private boolean warned;

    /** What a look has found up to {@link #lookedAt}; absent between looks. */
    private Optional<MissedFaults> found = Optional.empty();

    private long lookedAt;

    /** Since the last slice. */
    private long storedSince;

    LeftOutTable(Sql sql) throws SQLException {
        this.sql = sql;
        counted = read();
        newest = sql.number("SELECT max(event) FROM left_out");
        mayFit = !counted.isEmpty();
    }

    private LeftOut read() throws SQLException {
        return new LeftOut(sql.list(
                "SELECT substr(agent, 1, " + LONGEST_NAME + "), count(*), sum(fatal) FROM left_out GROUP BY agent"
                        + " ORDER BY sum(fatal) DESC, count(*) DESC, agent",
                row -> new LeftOut.Share(row.getString(1), row.getLong(2), row.getLong(3))));
    }

    /** An event was stored, and this is what it did to the current faults. */
    void stored(StoredEvent stored, Change change) throws SQLException {
        HealthEvent event = stored.event();
        storedSince++;
        if (event.healthy()) {
            // It makes room, or ends what waits for room.
            mayFit |= newest > 0;
        } else if (change.keys().size() < event.keys().size()) {
            sql.update(
                    "INSERT INTO left_out (event, agent, fatal) VALUES (?, ?, ?)",
                    stored.sequence(),
                    event.agent(),
                    event.fatal());
            newest = stored.sequence();
            changed = true;
        }
    }

    /** The last event of which something waits for room; 0 where nothing does. */
    long newest() {
        return newest;
    }

    boolean mayFit() {
        return mayFit || found.isPresent();
    }

    /** Whether a look has begun and not ended. */
    boolean looksOn() {
        return found.isPresent();
    }

    void lookAgain() {
        mayFit = true;
    }

    /**
     * Looks through the next slice of the history, which may be tens of thousands of events.
     *
     * @return what waits for room, once the end is reached; what does not wait any more is forgotten then
     */
    Optional<List<MissedFaults.Waiting>> look(FaultTable current) throws SQLException {
        if (found.isEmpty()) {
            mayFit = false;
            lookedAt = 0;
            storedSince = 0;
        }
        MissedFaults missed = found.orElseGet(MissedFaults::new);
        found = Optional.of(missed);
        // More than has come, or a flood would keep the end out of reach.
        long slice = Math.max(SLICE, 2 * storedSince);
        storedSince = 0;
        long end = sql.number(
                "SELECT max(sequence) FROM (SELECT sequence FROM events WHERE sequence > ?"
                        + " AND sequence >= (SELECT min(event) FROM left_out) ORDER BY sequence LIMIT ?)",
                lookedAt,
                slice);
        if (end > 0) {
            sql.forEach(
                    "SELECT " + EventTable.COLUMNS + " FROM events WHERE sequence > ? AND sequence <= ?"
                            + " AND sequence >= (SELECT min(event) FROM left_out)"
                            + " AND (healthy = 1 OR sequence IN (SELECT event FROM left_out)) ORDER BY sequence",
                    row -> EventTable.readable(row).ifPresent(missed::next),
                    lookedAt,
                    end);
            lookedAt = end;
            return Optional.empty();
        }
        found = Optional.empty();
        Set<Long> unsettled = missed.unsettled(current);
        for (long event : sql.list("SELECT event FROM left_out", row -> row.getLong(1))) {
            if (!unsettled.contains(event)) {
                forget(event);
            }
        }
        return Optional.of(missed.waiting(current));
    }

    /** The history has the event no more. */
    void deleted(long event) throws SQLException {
        if (newest > 0 && forget(event) && !warned) {
            warned = true;
            LOG.log(
                    Level.WARNING,
                    "event " + event + " is deleted from the history before its faults found room;"
                            + " what it reported is no longer known; further cases are not logged");
        }
    }

    private boolean forget(long event) throws SQLException {
        boolean there = sql.update("DELETE FROM left_out WHERE event = ?", event) > 0;
        changed |= there;
        return there;
    }

    /** Brings {@link #counted} and {@link #newest} up to date, before a commit. */
    void count() throws SQLException {
        if (changed) {
            changed = false;
            counted = read();
            newest = sql.number("SELECT max(event) FROM left_out");
        }
    }

    /** As of the last {@link #count}. */
    LeftOut counted() {
        return counted;
    }
}
