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
 * The table of events of which a fault found no room among the current ones. It is as long as the history at most:
 * its length costs no memory, and its rows are deleted with their events.
 */
final class LeftOutTable {

    private static final System.Logger LOG = System.getLogger(LeftOutTable.class.getName());

    /** The events that one transaction scans at least. It stores nothing else during that time. */
    private static final int SLICE = 200;

    /** The longest agent name in messages and labels. Reporters choose these names. */
    private static final int LONGEST_NAME = 200;

    private final Sql sql;
    private LeftOut counted;
    private long newest;
    private boolean changed;
    /** True after a start too, since earlier reports may have room now. */
    private boolean mayFit;

    private boolean warned;

    /** The findings of the scan up to {@link #scannedTo}; absent between scans. */
    private Optional<MissedFaults> found = Optional.empty();

    private long scannedTo;

    /** Events stored since the last slice. */
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

    /** Records a stored event and its effect on the current faults. */
    void stored(StoredEvent stored, Change change) throws SQLException {
        HealthEvent event = stored.event();
        storedSince++;
        if (event.healthy()) {
            // It makes room, or clears a fault that waits for room.
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

    /** Returns the last event of which a fault waits for room; 0 if there is none. */
    long newest() {
        return newest;
    }

    boolean mayFit() {
        return mayFit || found.isPresent();
    }

    /** Returns true during a scan. */
    boolean isScanning() {
        return found.isPresent();
    }

    void scanAgain() {
        mayFit = true;
    }

    /**
     * Scans the next slice of the history, which may have tens of thousands of events.
     *
     * @return the faults that wait for room, once the end is reached; events that no longer wait are removed then
     */
    Optional<List<MissedFaults.Waiting>> scan(FaultTable current) throws SQLException {
        if (found.isEmpty()) {
            mayFit = false;
            scannedTo = 0;
            storedSince = 0;
        }
        MissedFaults missed = found.orElseGet(MissedFaults::new);
        found = Optional.of(missed);
        // More than arrived since: otherwise the scan would never end during a flood.
        long slice = Math.max(SLICE, 2 * storedSince);
        storedSince = 0;
        long end = sql.number(
                "SELECT max(sequence) FROM (SELECT sequence FROM events WHERE sequence > ?"
                        + " AND sequence >= (SELECT min(event) FROM left_out) ORDER BY sequence LIMIT ?)",
                scannedTo,
                slice);
        if (end > 0) {
            sql.forEach(
                    "SELECT " + EventTable.COLUMNS + " FROM events WHERE sequence > ? AND sequence <= ?"
                            + " AND sequence >= (SELECT min(event) FROM left_out)"
                            + " AND (healthy = 1 OR sequence IN (SELECT event FROM left_out)) ORDER BY sequence",
                    row -> EventTable.readable(row).ifPresent(missed::next),
                    scannedTo,
                    end);
            scannedTo = end;
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

    /** Removes an event that was deleted from the history. */
    void deleted(long event) throws SQLException {
        if (newest > 0 && forget(event) && !warned) {
            warned = true;
            LOG.log(
                    Level.WARNING,
                    "event " + event + " was deleted from the history before its faults found room;"
                            + " what it reported is no longer known; further cases are not logged");
        }
    }

    private boolean forget(long event) throws SQLException {
        boolean there = sql.update("DELETE FROM left_out WHERE event = ?", event) > 0;
        changed |= there;
        return there;
    }

    /** Updates {@link #counted} and {@link #newest} before a commit. */
    void count() throws SQLException {
        if (changed) {
            changed = false;
            counted = read();
            newest = sql.number("SELECT max(event) FROM left_out");
        }
    }

    /** Returns the reports as of the last {@link #count}. */
    LeftOut counted() {
        return counted;
    }
}
