package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventLimits;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Keeps events in SQLite. Everything that says it waits does so for the writer's thread; what is current is in memory. */
public final class EventStore implements EventWriter, EventReader, Outbox, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(EventStore.class.getName());
    private static final long CLOSE_SECONDS = 2;

    /** Of one event: what a flight recorder writes, compressed. */
    public static final int LARGEST_RECORDING = 1 << 20;

    private final DatabaseFile place;
    private final Clock clock;
    private final StoreReader reader;
    private final StoreWriter writer;
    private final ConnectionManager keeper;
    private final StoreStats stats = new StoreStats();
    private final EventCounts counts = new EventCounts();
    private final CopyOnWriteArrayList<Consumer<EventChange>> listeners = new CopyOnWriteArrayList<>();
    private final Thread thread;

    private EventStore(DatabaseFile place, StoreSettings settings, Clock clock) {
        this.place = place;
        this.clock = clock;
        reader = new StoreReader(place, this::inspect);
        keeper = new ConnectionManager(place, settings, clock, stats, reader::close);
        Retention retention = new Retention(settings.retention, settings.maxSizeBytes, stats, System.nanoTime());
        writer = new StoreWriter(
                keeper, retention, clock, stats, counts, this::listening, reader::closeIfUnused, settings.roomInterval);
        thread = Threads.daemon("gpuwarden-store", writer);
    }

    /**
     * Opens the store, or begins it. Where the usual file cannot be written, the store is in memory and logs that; no receipt is
     * better than {@link Receipt#HELD}.
     *
     * @throws dev.gpuwarden.cli.UserError where another daemon has it, where a file that was named cannot be written, or where the
     *     file is of a newer version or of another program
     */
    public static EventStore open(StoreSettings settings, Clock clock) {
        settings.validate();
        return open(DatabaseFile.claim(settings.path, settings.named()), settings, clock);
    }

    static EventStore open(DatabaseFile place, StoreSettings settings, Clock clock) {
        EventStore store = new EventStore(place, settings, clock);
        try {
            store.writer.prepare();
        } catch (RuntimeException e) {
            place.close();
            throw e;
        }
        store.thread.start();
        LOG.log(
                Level.INFO,
                place.name() + " has " + store.writer.view().events() + " events, "
                        + store.faults().size() + " faults are current");
        return store;
    }

    @Override
    public List<Receipt> accept(List<HealthEvent> events, Optional<Position> position) {
        for (HealthEvent event : events) {
            EventLimits.violation(event).ifPresent(violation -> {
                throw new IllegalArgumentException(violation);
            });
        }
        Instant now = clock.instant();
        List<Receipt> receipts = writer.submit(new AppendRequest(
                events.stream().map(event -> PreparedEvent.of(event, now)).toList(), position));
        return place.fellBack()
                ? receipts.stream()
                        .map(each -> each == Receipt.REFUSED ? each : Receipt.HELD)
                        .toList()
                : receipts;
    }

    /** Whether what is accepted now is on disk, or where the operator wants it. */
    public boolean storing() {
        return !place.fellBack() && writer.trouble().isEmpty();
    }

    @Override
    public Optional<Position> position(String source) {
        return writer.position(source);
    }

    @Override
    public List<Fault> faults() {
        return writer.faults();
    }

    @Override
    public LeftOut leftOut() {
        return writer.view().leftOut();
    }

    @Override
    public List<StoredEvent> events(EventFilter filter) {
        EventQuery query = EventQuery.of(filter);
        return read(query::run);
    }

    @Override
    public Optional<StoredEvent> event(String id) {
        return read(
                sql -> sql.first("SELECT " + EventTable.COLUMNS + " FROM events WHERE id = ?", EventTable::read, id));
    }

    @Override
    public Subscription listen(Consumer<EventChange> listener) {
        // So that the same listener can be there twice, and each goes by itself.
        Consumer<EventChange> own = listener::accept;
        listeners.add(own);
        return () -> listeners.remove(own);
    }

    /** Those that listen at this moment. */
    private Consumer<EventChange> listening() {
        List<Consumer<EventChange>> all = List.copyOf(listeners);
        return told -> all.forEach(listener -> tell(listener, told));
    }

    private static void tell(Consumer<EventChange> listener, EventChange told) {
        try {
            listener.accept(told);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a listener failed on event " + told.stored().sequence(), e);
        }
    }

    /**
     * Keeps what was recorded around an event. False where it cannot be kept: the event is gone, or the disk takes nothing.
     *
     * @throws IllegalArgumentException where it is bigger than {@link #LARGEST_RECORDING}
     */
    public boolean attach(long sequence, byte[] recording) {
        if (recording.length > LARGEST_RECORDING) {
            throw new IllegalArgumentException(
                    "expected a recording of at most " + LARGEST_RECORDING + " bytes, but it has " + recording.length);
        }
        return writer.submit(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) throws SQLException {
                return session.attach(sequence, recording);
            }

            @Override
            void unwritten(String cause) {
                complete(false);
            }
        });
    }

    /** What was recorded around an event. Reads the store. */
    public Optional<byte[]> recording(String eventId) {
        return read(sql -> sql.first(
                "SELECT bytes FROM recordings JOIN events ON event = sequence WHERE id = ?",
                row -> row.getBytes(1),
                eventId));
    }

    /** Who the node's GPUs are, as they last reported it. */
    public KnownGpus gpus() {
        return writer.view().gpus();
    }

    /** Keeps that for the next start. Does not wait: what the disk does not take is learned again from the driver. */
    public void keepGpus(KnownGpus known) {
        writer.later(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) throws SQLException {
                session.keep(known);
                return true;
            }

            @Override
            void unwritten(String cause) {
                complete(false);
            }
        });
    }

    @Override
    public void register(String receiver) {
        keeper.register(receiver);
        writer.submit(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) throws SQLException {
                session.outbox().register(receiver, session.lastSequence(), 0);
                return true;
            }

            @Override
            void unwritten(String cause) {
                // The next database that opens learns of it.
                complete(true);
            }
        });
    }

    /** Forgets all other receivers: nothing is kept for those that the user configured away. Blocks as registering does. */
    public void keepReceivers(Set<String> names) {
        keeper.keep(names);
        writer.submit(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) throws SQLException {
                session.outbox().keep(names);
                return true;
            }
        });
    }

    @Override
    public List<StoredEvent> next(String receiver, int max) {
        Long acknowledged = writer.view().acknowledged().get(receiver);
        return acknowledged == null ? List.of() : read(sql -> EventQuery.after(sql, acknowledged, max));
    }

    @Override
    public void acknowledge(String receiver, long sequence) {
        writer.submit(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) throws SQLException {
                session.outbox().acknowledge(receiver, sequence, session.lastSequence());
                return true;
            }
        });
    }

    @Override
    public Lag lag(String receiver) {
        return writer.view().lags().getOrDefault(receiver, new Lag(0, 0));
    }

    /** How the store is. Cheap, and from memory but for the file's size. */
    public StoreStatus status() {
        CommittedState view = writer.view();
        return new StoreStatus(
                place.name(),
                Optional.of(place.memoryCause()).filter(cause -> !cause.isEmpty()),
                writer.trouble(),
                place.bytes(),
                view.events(),
                writer.faults().size(),
                view.lastSequence(),
                writer.waiting(),
                writer.heldEvents(),
                writer.heldBytes(),
                stats.receipts(),
                stats.leftOutFaults(),
                view.leftOut(),
                stats.deletedEvents(),
                stats.setAsideFiles(),
                stats.commitMicros(),
                view.lags());
    }

    /** How many events were taken since start, by what they say. */
    public Map<EventCounts.Kind, Long> counts() {
        return counts.all();
    }

    private <T> T read(StoreReader.Query<T> query) {
        if (!place.inMemory()) {
            return reader.read(query);
        }
        // A database in memory belongs to its one connection.
        return writer.submit(new WriteRequest<T>() {
            @Override
            T write(Session session, Instant now) throws SQLException {
                return query.run(session.sql());
            }
        });
    }

    /** A reader met something broken: the writer looks at all of it. */
    private void inspect(SQLException error) {
        writer.later(new WriteRequest<Boolean>() {
            @Override
            Boolean write(Session session, Instant now) throws SQLException {
                String complaint = Schema.complaint(session.sql());
                if (!complaint.isEmpty()) {
                    throw SqliteErrorKind.corrupt(complaint);
                }
                LOG.log(Level.WARNING, "a reader found the event store broken, the writer finds it sound", error);
                return true;
            }
        });
    }

    /** Writes what waits and lets go of the file. */
    @Override
    public void close() {
        // The last connection that closes moves the log into the file.
        reader.close();
        writer.end();
        boolean interrupted = false;
        try {
            thread.join(TimeUnit.SECONDS.toMillis(CLOSE_SECONDS));
        } catch (InterruptedException e) {
            interrupted = true;
        }
        reader.close();
        place.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
