package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.limit.Backoff;
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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that writes. Whatever waits when it comes round goes into one transaction, so that many callers share one
 * sync of the disk. At rest it sleeps.
 */
final class StoreWriter implements Runnable {

    private static final System.Logger LOG = System.getLogger(StoreWriter.class.getName());
    private static final int MOST_JOBS = 256;
    private static final Backoff RETRY = Backoff.exact(Duration.ofMillis(100), Duration.ofSeconds(5));

    private final ConnectionManager keeper;
    private final Retention retention;
    private final Clock clock;
    private final StoreStats stats;
    private final EventCounts counts;
    private final Supplier<Consumer<EventChange>> listeners;
    private final Runnable hourly;
    private final LinkedBlockingQueue<WriteRequest<?>> jobs = new LinkedBlockingQueue<>();
    private final PendingBuffer holding = new PendingBuffer();
    private final Map<String, Position> positions = new ConcurrentHashMap<>();

    /** A pause after a look is so many times as long as the look. */
    private static final int LOOK_SHARE = 9;

    private final long lookNanos;
    private long lookAtNanos = System.nanoTime();
    private boolean lookDue;
    /** That the look under way has taken. */
    private long lookedNanos;

    private long retryAtNanos;
    private int failures;

    private volatile boolean ending;
    private volatile @Nullable Thread thread;
    private volatile CommittedState view = CommittedState.EMPTY;
    private volatile List<Fault> faults = List.of();
    private volatile @Nullable String trouble;
    private volatile int heldEvents;
    private volatile long heldBytes;
    private volatile boolean ended;

    StoreWriter(
            ConnectionManager keeper,
            Retention retention,
            Clock clock,
            StoreStats stats,
            EventCounts counts,
            Supplier<Consumer<EventChange>> listeners,
            Runnable hourly,
            Duration roomInterval) {
        this.keeper = keeper;
        this.retention = retention;
        this.clock = clock;
        this.stats = stats;
        this.counts = counts;
        this.listeners = listeners;
        this.hourly = hourly;
        this.lookNanos = roomInterval.toNanos();
    }

    /** Opens the database, before the thread starts. A disk that refuses is no reason not to start. */
    void prepare() {
        try {
            write(new ArrayList<>());
        } catch (SQLException e) {
            recover(new ArrayList<>(), e);
        }
    }

    <T> T submit(WriteRequest<T> job) {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException("a listener must not wait for the event store: it is on its thread");
        }
        later(job);
        return job.await();
    }

    /** Does it with the others; nobody waits for it. */
    void later(WriteRequest<?> job) {
        if (!ended) {
            jobs.add(job);
        }
        if (ended && (jobs.remove(job) || !job.isDone())) {
            job.fail(new IllegalStateException("the event store is closed"));
        }
    }

    /** Everything that waits now is written, or given up; then the thread ends. */
    void end() {
        ending = true;
        jobs.add(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) {
                return true;
            }
        });
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        List<WriteRequest<?>> batch = new ArrayList<>();
        try {
            while (!ending || !jobs.isEmpty()) {
                take(batch);
                turn(batch);
            }
        } finally {
            ended = true;
            jobs.drainTo(batch);
            batch.forEach(job -> job.fail(new IllegalStateException("the event store is closed")));
            if (!holding.isEmpty()) {
                LOG.log(Level.ERROR, holding.events() + " events are lost: the disk did not take them to the end");
            }
            keeper.close();
        }
    }

    private void take(List<WriteRequest<?>> batch) {
        long now = System.nanoTime();
        long wake = trouble == null ? retention.dueNanos() : retryAtNanos;
        if (trouble == null && lookDue && lookAtNanos - wake < 0) {
            wake = lookAtNanos;
        }
        boolean atOnce = trouble == null && retention.due(now);
        try {
            WriteRequest<?> first = jobs.poll(atOnce ? 0 : wake - now, TimeUnit.NANOSECONDS);
            if (first != null) {
                batch.add(first);
                jobs.drainTo(batch, MOST_JOBS - 1);
            }
        } catch (InterruptedException e) {
            // What is acknowledged must be written: this thread ends when it is told to, in its own way.
            LOG.log(Level.DEBUG, "interrupted, and goes on", e);
        }
    }

    /** One round: what is held, what is new, a little housekeeping. What cannot be written is held, or its caller told. */
    private void turn(List<WriteRequest<?>> batch) {
        boolean patient = trouble != null && !ending && System.nanoTime() - retryAtNanos < 0;
        if (!patient) {
            try {
                write(batch);
            } catch (SQLException e) {
                recover(batch, e);
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "the event store failed", e);
                troubled(new SQLException(e));
            }
        }
        batch.forEach(this::postpone);
        batch.clear();
    }

    private void recover(List<WriteRequest<?>> batch, SQLException e) {
        if (SqliteErrorKind.of(e) != SqliteErrorKind.CORRUPT || !keeper.setAside(String.valueOf(e.getMessage()))) {
            troubled(e);
            return;
        }
        try {
            write(batch);
        } catch (SQLException second) {
            troubled(second);
        }
    }

    /** Writes everything; what is written goes from the batch. */
    private void write(List<WriteRequest<?>> batch) throws SQLException {
        try {
            Session session = keeper.open(view);
            if (view == CommittedState.EMPTY) {
                publish(session);
            }
            while (!holding.isEmpty()) {
                List<AppendRequest> held = holding.first(MOST_JOBS);
                commit(new ArrayList<>(held));
                holding.remove(held);
                publish(keeper.open(view));
            }
            commit(batch);
            raiseAgain();
            relieved();
            housekeeping();
        } catch (SQLException | RuntimeException e) {
            keeper.close();
            throw e;
        }
    }

    /**
     * Faults that found no room get it when others are over. Looking for them reads part of the history, in slices, between which new
     * events are stored; it takes at most a tenth of this thread's time.
     */
    private void raiseAgain() throws SQLException {
        long began = System.nanoTime();
        if (!keeper.open(view).mayRaiseAgain() || began - lookAtNanos < 0) {
            return;
        }
        commit(new ArrayList<>(List.of(new RaiseAgain())));
        long now = System.nanoTime();
        lookedNanos += now - began;
        lookAtNanos = now;
        if (!keeper.open(view).looksForRoom()) {
            lookAtNanos += Math.max(lookNanos, LOOK_SHARE * lookedNanos);
            lookedNanos = 0;
        }
    }

    private void commit(List<WriteRequest<?>> todo) throws SQLException {
        if (todo.isEmpty()) {
            return;
        }
        Session session = keeper.open(view);
        try {
            transaction(session, todo);
        } catch (SQLException | RuntimeException e) {
            keeper.close();
            if (e instanceof SQLException sql && SqliteErrorKind.of(sql) != SqliteErrorKind.MISTAKE) {
                throw sql;
            }
            separate(todo, e);
        }
        todo.clear();
    }

    /** One of them is to blame, and must not take the others along. */
    private void separate(List<WriteRequest<?>> todo, Exception mistake) throws SQLException {
        if (todo.size() == 1) {
            LOG.log(Level.ERROR, "the event store cannot do what it was asked for", mistake);
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
        for (WriteRequest<?> job : todo) {
            job.run(session, now);
        }
        session.commit();
        stats.committed(System.nanoTime() - start);
        retention.committed();
        publish(session);
        // Before any sender is answered: who listens after that hears of none of these.
        Consumer<EventChange> listening = listeners.get();
        for (WriteRequest<?> job : todo) {
            job.committed();
            if (job instanceof AppendRequest acceptance) {
                acceptance.count(stats, counts);
            }
        }
        for (WriteRequest<?> job : todo) {
            if (job instanceof AppendRequest acceptance) {
                acceptance.told().forEach(told -> tell(told, listening));
            }
        }
    }

    private void tell(EventChange told, Consumer<EventChange> listening) {
        HealthEvent event = told.stored().event();
        int leftOut =
                event.healthy() ? 0 : event.keys().size() - told.change().keys().size();
        if (stats.faultsLeftOut(leftOut)) {
            LOG.log(
                    Level.WARNING,
                    "there is no room for more current faults (" + faults.size() + "): " + event.agent() + " tells of "
                            + leftOut + " that are in the history only; further cases are counted");
        }
        listening.accept(told);
    }

    private void publish(Session session) {
        view = CommittedState.of(session);
        lookDue = session.mayRaiseAgain();
        positions.putAll(view.positions());
        faults = holding.isEmpty() ? view.faults() : holding.faults();
        heldEvents = holding.events();
        heldBytes = holding.bytes();
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
            Session session = keeper.open(view);
            retention.step(session, clock.instant(), now);
            publish(session);
        } catch (SQLException e) {
            keeper.close();
            if (SqliteErrorKind.of(e) == SqliteErrorKind.CORRUPT) {
                throw e;
            }
            LOG.log(Level.WARNING, "old events of the event store cannot be deleted now: " + e.getMessage());
            retention.failed(now);
        }
    }

    private void postpone(WriteRequest<?> job) {
        if (!(job instanceof AppendRequest acceptance)) {
            job.unwritten("the event store takes nothing now: " + trouble);
            return;
        }
        List<PreparedEvent> events = List.copyOf(acceptance.events());
        List<Receipt> receipts = holding.add(acceptance, view.faults(), clock.instant());
        faults = holding.faults();
        heldEvents = holding.events();
        heldBytes = holding.bytes();
        if (!receipts.contains(Receipt.REFUSED)) {
            acceptance.position().ifPresent(position -> positions.put(position.source(), position));
        }
        // Last: whoever has the receipts sees the rest.
        acceptance.held(events, receipts, stats, counts);
    }

    private void troubled(SQLException e) {
        String cause = String.valueOf(e.getMessage());
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

    private void relieved() {
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

    int waiting() {
        return jobs.size();
    }

    int heldEvents() {
        return heldEvents;
    }

    long heldBytes() {
        return heldBytes;
    }
}
