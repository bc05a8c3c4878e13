package dev.gpuwarden.daemon.store;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox.Lag;
import dev.gpuwarden.core.node.KnownGpus;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Manager of the database connection: opens it again after errors, and creates a new database from the last known
 * state if the old one is corrupt or gone. Used by the writer's thread only.
 */
final class ConnectionManager implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ConnectionManager.class.getName());
    /** More events than a store takes per second of its life, so that a new store never repeats numbers of an earlier one. */
    private static final long SEQUENCES_PER_SECOND = 1000;

    private final DatabaseFile place;
    private final StoreSettings settings;
    private final Clock clock;
    private final StoreStats stats;
    /** Receivers that are registered with every database that opens. */
    private final Set<String> receivers = ConcurrentHashMap.newKeySet();
    /** The receivers that the configuration has; empty until it is known. Others are removed from a database that opens. */
    private volatile Optional<Set<String>> configured = Optional.empty();

    private final Runnable onReopen;
    private @Nullable Session session;
    private Optional<Object> identity = Optional.empty();
    private long lookedAt;

    /** @param onReopen called after another file was opened, since readers may still hold the old one */
    ConnectionManager(DatabaseFile place, StoreSettings settings, Clock clock, StoreStats stats, Runnable onReopen) {
        this.onReopen = onReopen;
        this.place = place;
        this.settings = settings;
        this.clock = clock;
        this.stats = stats;
    }

    void register(String receiver) {
        receivers.add(receiver);
    }

    void keep(Set<String> names) {
        receivers.retainAll(names);
        configured = Optional.of(Set.copyOf(names));
    }

    /** Returns why the database cannot be written, for users. */
    String cause(SQLException e) {
        return place.cause(e);
    }

    /** @param known the state of the database that was open before */
    Session open(CommittedState known) throws SQLException {
        Session open = session;
        if (open != null && gone()) {
            LOG.log(Level.WARNING, "the file of the event store was removed or replaced while the daemon ran");
            close();
            open = null;
        }
        if (open == null) {
            place.begin();
            open = reopen(known);
            onReopen.run();
            session = open;
            identity = place.identity();
        }
        return open;
    }

    private Session reopen(CommittedState known) throws SQLException {
        Instant now = clock.instant();
        long first = Math.max(known.lastSequence(), now.getEpochSecond() * SEQUENCES_PER_SECOND);
        Session opened;
        try {
            opened = Session.open(place.name(), settings.repeatWindow, first);
        } catch (UserError replaced) {
            if (known == CommittedState.EMPTY) {
                throw replaced;
            }
            throw new SQLException(replaced.getMessage(), null, 14);
        }
        try {
            if (opened.isNew() && known.lastSequence() > 0) {
                adopt(opened, known, first, now);
            }
            for (String receiver : receivers) {
                opened.outbox().register(receiver, opened.lastSequence(), 0);
            }
            if (configured.isPresent()) {
                opened.outbox().keep(configured.get());
            }
            opened.commit();
        } catch (SQLException | RuntimeException e) {
            opened.close();
            throw e;
        }
        return opened;
    }

    private static void adopt(Session opened, CommittedState known, long first, Instant now) throws SQLException {
        for (var receiver : known.lags().entrySet()) {
            Lag lag = receiver.getValue();
            opened.outbox().register(receiver.getKey(), first, lag.dropped() + lag.waiting());
        }
        for (Position position : known.positions().values()) {
            opened.position(position);
        }
        opened.keep(known.gpus());
        opened.adopt(known.faults(), now);
        LOG.log(
                Level.WARNING,
                "created a new event store with " + known.faults().size() + " current faults");
    }

    /** Checks, once a second at most, whether the file was removed: SQLite itself would keep writing to a nameless file. */
    private boolean gone() {
        long now = System.nanoTime();
        if (now - lookedAt < 1_000_000_000L) {
            return false;
        }
        lookedAt = now;
        return !place.identity().equals(identity);
    }

    /** Renames a corrupt file. Returns false if that failed. */
    boolean setAside(String complaint) {
        close();
        stats.setAside();
        if (place.inMemory()) {
            LOG.log(Level.ERROR, "the event store in memory is corrupt (" + complaint + "): a new one is created");
            return true;
        }
        try {
            Path aside = place.setAside(clock.instant());
            LOG.log(
                    Level.ERROR,
                    "the event store " + place.name() + " is corrupt (" + complaint + "): it was moved to " + aside
                            + ", and a new one is created");
            return true;
        } catch (IOException e) {
            LOG.log(
                    Level.ERROR,
                    "the event store " + place.name() + " is corrupt (" + complaint + ") and cannot be set aside",
                    e);
            return false;
        }
    }

    /** Closes the database, whatever state it is in. */
    @Override
    public void close() {
        if (session != null) {
            try {
                session.close();
            } catch (SQLException e) {
                LOG.log(Level.DEBUG, "closing the event store after an error failed too", e);
            }
            session = null;
        }
    }

    /** The store's state as of the last commit, in memory; {@code acknowledged} has the last event of each receiver. */
    record CommittedState(
            List<Fault> faults,
            Map<String, Position> positions,
            Map<String, Long> acknowledged,
            Map<String, Lag> lags,
            long lastSequence,
            long events,
            LeftOut leftOut,
            KnownGpus gpus) {

        static final CommittedState EMPTY =
                new CommittedState(List.of(), Map.of(), Map.of(), Map.of(), 0, 0, LeftOut.NONE, KnownGpus.NONE);

        static CommittedState of(Session session) {
            return new CommittedState(
                    session.faults(),
                    Map.copyOf(session.positions()),
                    session.outbox().acknowledged(),
                    session.outbox().lags(),
                    session.lastSequence(),
                    session.count(),
                    session.leftOut(),
                    session.gpus());
        }
    }
}
