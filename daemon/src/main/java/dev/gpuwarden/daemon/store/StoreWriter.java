package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.daemon.store.ConnectionManager.CommittedState;
import dev.gpuwarden.daemon.store.WriteRequest.AppendRequest;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The writer's thread of the store. All requests that wait form one transaction, so that many callers share one sync
 * of the disk. It sleeps while nothing waits.
 */
final class StoreWriter {

    private static final System.Logger LOG = System.getLogger(StoreWriter.class.getName());
    private static final Backoff RETRY = Backoff.exact(Duration.ofMillis(100), Duration.ofSeconds(5));

    private final RequestQueue requests;
    private final ConnectionManager connections;
    private final Retention retention;
    private final Clock clock;
    private final StoreStats stats;
    private final Supplier<Consumer<EventChange>> listeners;
    private final Runnable hourly;
    private final List<WriteRequest<?>> batch = new ArrayList<>();
    private final PendingBuffer pending = new PendingBuffer();
    private final Map<String, Position> positions = new ConcurrentHashMap<>();

    private final RoomScan scan;
    private long retryAtNanos;
    private int failures;

    private volatile CommittedState view = CommittedState.EMPTY;
    private volatile List<Fault> faults = List.of();
    private volatile @Nullable String trouble;
    private volatile int heldEvents;
    private volatile long heldBytes;

    StoreWriter(
            RequestQueue requests,
            ConnectionManager connections,
            Retention retention,
            Clock clock,
            StoreStats stats,
            Supplier<Consumer<EventChange>> listeners,
            Runnable hourly,
            Duration roomInterval) {
        this.requests = requests;
        this.connections = connections;
        this.retention = retention;
        this.clock = clock;
        this.stats = stats;
        this.listeners = listeners;
        this.hourly = hourly;
        this.scan = new RoomScan(roomInterval, System.nanoTime());
    }

    /** Opens the database before the thread starts. A disk that refuses writes does not prevent the start. */
    void prepare() {
        try {
            write(new ArrayList<>());
        } catch (SQLException e) {
            recover(new ArrayList<>(), e);
        }
    }

    /** Waits for requests or other work, and does it. Returns whether there is more, for a {@link LoopThread}. */
    long next() {
        requests.own();
        if (!requests.hasMore()) {
            return LoopThread.ENDED;
        }
        try {
            take();
            turn();
            return 0;
        } catch (RuntimeException e) {
            // It is not known which of the requests were answered.
            LOG.log(Level.ERROR, "the event store ends", e);
            return LoopThread.ENDED;
        }
    }

    /** Fails the requests that wait, and closes the database. The last work of the thread. */
    void end() {
        requests.close(batch);
        if (!pending.isEmpty()) {
            LOG.log(
                    Level.ERROR,
                    pending.events() + " held events are lost: the disk took no writes until the daemon ended");
        }
        connections.close();
    }

    private void take() {
        long now = System.nanoTime();
        long wake = trouble == null ? scan.wakeNanos(retention.dueNanos()) : retryAtNanos;
        boolean atOnce = trouble == null && retention.due(now);
        requests.take(batch, atOnce ? 0 : wake - now);
    }

    /** Writes the held events, then the batch, then cleans up. If the disk takes no writes, holds or refuses the batch. */
    private void turn() {
        boolean waiting = trouble != null && !requests.isEnding() && System.nanoTime() - retryAtNanos < 0;
        if (!waiting) {
            try {
                write(batch);
            } catch (SQLException e) {
                recover(batch, e);
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "the event store failed", e);
                failed(new SQLException(e));
            }
        }
        batch.forEach(this::postpone);
        batch.clear();
    }

    private void recover(List<WriteRequest<?>> batch, SQLException e) {
        if (Sql.ErrorKind.of(e) != Sql.ErrorKind.CORRUPT || !connections.setAside(String.valueOf(e.getMessage()))) {
            failed(e);
            return;
        }
        try {
            write(batch);
        } catch (SQLException second) {
            failed(second);
        }
    }

    /** Writes everything and removes the written requests from the batch. */
    private void write(List<WriteRequest<?>> batch) throws SQLException {
        try {
            Session session = connections.open(view);
            if (view == CommittedState.EMPTY) {
                publish(session);
            }
            while (!pending.isEmpty()) {
                List<AppendRequest> held = pending.first(RequestQueue.LARGEST_BATCH);
                commit(new ArrayList<>(held));
                pending.remove(held);
                publish(connections.open(view));
            }
            commit(batch);
            raiseAgain();
            recovered();
            housekeeping();
        } catch (SQLException | RuntimeException e) {
            connections.close();
            throw e;
        }
    }

    /** Raises faults that found no room once others are cleared, from a slice of the history. */
    private void raiseAgain() throws SQLException {
        long began = System.nanoTime();
        if (connections.open(view).mayRaiseAgain() && scan.isDue(began)) {
            commit(new ArrayList<>(List.of(new AppendRequest.RaiseAgain())));
            scan.read(began, System.nanoTime(), connections.open(view).isScanning());
        }
    }

    private void commit(List<WriteRequest<?>> todo) throws SQLException {
        if (todo.isEmpty()) {
            return;
        }
        Session session = connections.open(view);
        try {
            transaction(session, todo);
        } catch (SQLException | RuntimeException e) {
            connections.close();
            if (e instanceof SQLException sql && Sql.ErrorKind.of(sql) != Sql.ErrorKind.MISTAKE) {
                throw sql;
            }
            separate(todo, e);
        }
        todo.clear();
    }

    /** Runs the requests one by one, so that the failing one does not fail the others. */
    private void separate(List<WriteRequest<?>> todo, Exception mistake) throws SQLException {
        if (todo.size() == 1) {
            LOG.log(Level.ERROR, "the event store failed on a request", mistake);
            todo.get(0).fail(mistake instanceof RuntimeException e ? e : new IllegalStateException(mistake));
            return;
        }
        while (!todo.isEmpty()) {
            commit(todo.subList(0, 1));
        }
    }

    private void transaction(Session session, List<WriteRequest<?>> todo) throws SQLException {
        long start = System.nanoTime();
        Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
        for (WriteRequest<?> request : todo) {
            request.run(session, now);
        }
        session.commit();
        stats.committed(System.nanoTime() - start);
        retention.committed();
        publish(session);
        // Before any sender is answered: later listeners receive none of these changes.
        Consumer<EventChange> listener = listeners.get();
        for (WriteRequest<?> request : todo) {
            request.committed();
            if (request instanceof AppendRequest append) {
                append.count(stats);
            }
        }
        for (WriteRequest<?> request : todo) {
            if (request instanceof AppendRequest append) {
                append.changes().forEach(change -> report(change, listener));
            }
        }
    }

    private void report(EventChange change, Consumer<EventChange> listener) {
        HealthEvent event = change.stored().event();
        int leftOut = event.healthy()
                ? 0
                : event.keys().size() - change.change().keys().size();
        if (stats.faultsLeftOut(leftOut)) {
            LOG.log(
                    Level.WARNING,
                    "there is no room for more current faults (" + faults.size() + "): " + event.agent() + " reports "
                            + leftOut + " that are in the history only; further cases are counted");
        }
        listener.accept(change);
    }

    private void publish(Session session) {
        view = CommittedState.of(session);
        scan.need(session.mayRaiseAgain());
        positions.putAll(view.positions());
        publishHeld();
    }

    private void publishHeld() {
        faults = pending.isEmpty() ? view.faults() : pending.faults();
        heldEvents = pending.events();
        heldBytes = pending.bytes();
    }

    private void housekeeping() throws SQLException {
        long now = System.nanoTime();
        if (now - retention.dueNanos() >= 0) {
            hourly.run();
        }
        if (!retention.due(now)) {
            return;
        }
        try {
            Session session = connections.open(view);
            retention.step(session, clock.instant(), now);
            publish(session);
        } catch (SQLException e) {
            connections.close();
            if (Sql.ErrorKind.of(e) == Sql.ErrorKind.CORRUPT) {
                throw e;
            }
            LOG.log(Level.WARNING, "old events of the event store cannot be deleted now: " + e.getMessage());
            retention.failed(now);
        }
    }

    private void postpone(WriteRequest<?> request) {
        if (!(request instanceof AppendRequest append)) {
            request.unwritten("the event store takes nothing now: " + trouble);
            return;
        }
        List<PreparedEvent> events = List.copyOf(append.events());
        List<Receipt> receipts = pending.add(append, view.faults(), clock.instant());
        publishHeld();
        if (!receipts.contains(Receipt.REFUSED)) {
            append.position().ifPresent(position -> positions.put(position.source(), position));
        }
        // Last: a caller with the receipts must see the other fields.
        append.held(events, receipts, stats);
    }

    private void failed(SQLException e) {
        String cause = connections.cause(e);
        if (trouble == null) {
            LOG.log(
                    Level.WARNING,
                    "the event store cannot be written (" + cause + "): up to " + PendingBuffer.MOST_EVENTS
                            + " events are held in memory until it can");
        }
        trouble = cause;
        failures++;
        retryAtNanos = System.nanoTime() + RETRY.pause(failures).toNanos();
    }

    private void recovered() {
        if (trouble != null) {
            LOG.log(Level.INFO, "the event store can be written again; everything that was held is written");
            trouble = null;
            failures = 0;
        }
    }

    List<Fault> faults() {
        return faults;
    }

    Optional<Position> position(String source) {
        return Optional.ofNullable(positions.get(source));
    }

    CommittedState view() {
        return view;
    }

    Optional<String> trouble() {
        return Optional.ofNullable(trouble);
    }

    int heldEvents() {
        return heldEvents;
    }

    long heldBytes() {
        return heldBytes;
    }
}
