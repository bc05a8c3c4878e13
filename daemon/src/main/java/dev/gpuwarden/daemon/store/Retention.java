package dev.gpuwarden.daemon.store;

import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Deletes old events in small steps, so that new events never wait for it. Causes of current faults stay, whatever
 * their age and the store's size. Used by the writer's thread only.
 */
final class Retention {

    private static final System.Logger LOG = System.getLogger(Retention.class.getName());
    private static final long EVERY_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** Commits between two checks of the size. */
    private static final int COMMITS = 64;

    private static final int BATCH = 64;
    private static final int RECORDINGS = 4;
    /** The number of free pages up to which no page is given back. */
    private static final int FREE_PAGES = 64;

    /** The share of the limit at which deleting stops, so that not every commit deletes. */
    private static final double TARGET = 0.9;

    /** The events that current faults refer to. */
    private static final String NEEDED = "SELECT cause FROM faults UNION SELECT latest FROM faults";

    private final Duration age;
    private final long mostBytes;
    private final StoreStats stats;
    private long dueNanos;
    private int commits;
    private boolean ageing = true;
    private boolean shrinking;
    private boolean warned;

    Retention(Duration age, long mostBytes, StoreStats stats, long nowNanos) {
        this.age = age;
        this.mostBytes = mostBytes;
        this.stats = stats;
        this.dueNanos = nowNanos;
    }

    /** Returns when to call {@link #step} if there are no commits. */
    long dueNanos() {
        return dueNanos;
    }

    void committed() {
        commits++;
    }

    boolean due(long nowNanos) {
        return ageing || shrinking || commits >= COMMITS || nowNanos - dueNanos >= 0;
    }

    /** Postpones the next step by a minute, since a nearly full disk must not keep the writer busy. */
    void failed(long nowNanos) {
        dueNanos = nowNanos + AGAIN_NANOS;
        ageing = false;
        shrinking = false;
        commits = 0;
    }

    /** Runs one small step; more remains while it is {@link #due}. */
    void step(Session session, Instant now, long nowNanos) throws SQLException {
        if (nowNanos - dueNanos >= 0) {
            dueNanos = nowNanos + EVERY_NANOS;
            ageing = true;
        }
        commits = 0;
        Sql sql = session.sql();
        if (ageing) {
            ageing = expire(session, now) == BATCH;
        }
        long page = sql.number("PRAGMA page_size");
        long free = sql.number("PRAGMA freelist_count");
        long used = (sql.number("PRAGMA page_count") - free) * page;
        shrinking = used > (shrinking ? (long) (TARGET * mostBytes) : mostBytes) && shrink(session);
        session.commit();
        if (free > FREE_PAGES) {
            sql.run("PRAGMA incremental_vacuum(" + FREE_PAGES + ")");
            session.commit();
            shrinking |= free > 2 * FREE_PAGES;
        }
    }

    private int expire(Session session, Instant now) throws SQLException {
        long cutoff = Sql.micros(now.minus(age));
        long acknowledged = session.outbox().acknowledgedByAll();
        Set<Long> needed = new HashSet<>(session.sql().list(NEEDED, row -> row.getLong(1)));
        List<Long> old = new ArrayList<>();
        // No index by time: each stored event would pay for a query once an hour. Events are in the order of their
        // arrival, so the search ends at the first recent one; a clock that was ahead for a while does not count.
        session.sql()
                .listWhile(
                        "SELECT sequence, received, last_seen FROM events WHERE sequence <= ? ORDER BY sequence",
                        row -> {
                            long sequence = row.getLong(1);
                            long received = row.getLong(2);
                            if (row.getLong(3) < cutoff && !needed.contains(sequence)) {
                                old.add(sequence);
                            }
                            return old.size() < BATCH && (received < cutoff || received > Sql.micros(now));
                        },
                        goOn -> goOn,
                        acknowledged);
        for (long sequence : old) {
            session.delete(sequence);
        }
        stats.deleted(old.size());
        return old.size();
    }

    /** Deletes the oldest events. Returns false if no event can be deleted. */
    private boolean shrink(Session session) throws SQLException {
        Sql sql = session.sql();
        List<Long> oldest = sql.list(
                "SELECT sequence FROM events WHERE sequence NOT IN (" + NEEDED + ") ORDER BY sequence LIMIT " + BATCH,
                row -> row.getLong(1));
        for (long sequence : oldest) {
            session.delete(sequence);
            session.outbox().dropped(sequence);
        }
        stats.deleted(oldest.size());
        if (!oldest.isEmpty()) {
            return true;
        }
        int recordings =
                sql.update("DELETE FROM recordings WHERE event IN (SELECT event FROM recordings ORDER BY event LIMIT "
                        + RECORDINGS + ")");
        if (recordings == 0 && !warned) {
            warned = true;
            LOG.log(Level.WARNING, "the causes of current faults alone exceed --store.max-size");
        }
        return recordings > 0;
    }
}
