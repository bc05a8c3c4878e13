package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.daemon.store.ConnectionManager.CommittedState;
import dev.gpuwarden.daemon.store.StoreStats.EventCounts;
import dev.gpuwarden.daemon.store.WriteRequest.AppendRequest;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The event store of the node, in SQLite. Methods that store wait for the writer's thread; current faults are read
 * from memory. Thread-safe.
 */
public final class EventStore implements EventWriter, EventReader, Outbox, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(EventStore.class.getName());
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);

    /** The largest recording of one event, compressed, in bytes. */
    public static final int LARGEST_RECORDING = 1 << 20;

    private final DatabaseFile place;
    private final Clock clock;
    private final StoreReader reader;
    private final RequestQueue requests = new RequestQueue();
    private final StoreWriter writer;
    private final ConnectionManager connections;
    private final StoreStats stats = new StoreStats();
    private final CopyOnWriteArrayList<Consumer<EventChange>> listeners = new CopyOnWriteArrayList<>();
    private final LoopThread thread;

    private EventStore(DatabaseFile place, StoreSettings settings, Clock clock) {
        this.place = place;
        this.clock = clock;
        reader = new StoreReader(place, this::inspect);
        connections = new ConnectionManager(place, settings, clock, stats, reader::close);
        Retention retention = new Retention(settings.retention, settings.maxSizeBytes, stats, System.nanoTime());
        writer = new StoreWriter(
                requests,
                connections,
                retention,
                clock,
                stats,
                this::currentListeners,
                reader::closeIfUnused,
                settings.roomInterval);
        thread = new LoopThread("gpuwarden-store", writer::next).atEnd(writer::end);
    }

    /**
     * Opens the store, or creates it. If the default file cannot be written, the store is in memory, logs that, and
     * gives no receipt better than {@link Receipt#HELD}. On a disk that has no room now, events are held in memory, there is no history, and the
     * file opens once there is room.
     *
     * @throws dev.gpuwarden.cli.UserError if another daemon holds the file, if a named file cannot be written, or if
     *     the file has a newer version or belongs to another program
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
        List<Receipt> receipts = requests.submit(new AppendRequest(
                events.stream().map(event -> PreparedEvent.of(event, now)).toList(), position));
        return place.fellBack()
                ? receipts.stream()
                        .map(each -> each == Receipt.REFUSED ? each : Receipt.HELD)
                        .toList()
                : receipts;
    }

    /**
     * Returns why events are not stored now and are lost if the daemon ends, for users; empty if they are on the disk, or in memory as
     * configured.
     */
    public Optional<String> notStored() {
        return place.fellBack() ? Optional.of(place.memoryCause()) : writer.trouble();
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
    public boolean holding() {
        return writer.trouble().isPresent();
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
        // A wrapper of its own, so that a listener can be registered twice and removed once.
        Consumer<EventChange> own = listener::accept;
        listeners.add(own);
        return () -> listeners.remove(own);
    }

    /** Returns one consumer that calls the listeners registered at this moment. */
    private Consumer<EventChange> currentListeners() {
        List<Consumer<EventChange>> all = List.copyOf(listeners);
        return change -> all.forEach(listener -> notify(listener, change));
    }

    private static void notify(Consumer<EventChange> listener, EventChange change) {
        try {
            listener.accept(change);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a listener failed on event " + change.stored().sequence(), e);
        }
    }

    /**
     * Stores a recording with an event. Returns false if the event is gone or the disk takes no writes.
     *
     * @throws IllegalArgumentException if it is larger than {@link #LARGEST_RECORDING}
     */
    public boolean attach(long sequence, byte[] recording) {
        if (recording.length > LARGEST_RECORDING) {
            throw new IllegalArgumentException(
                    "expected a recording of at most " + LARGEST_RECORDING + " bytes, but it has " + recording.length);
        }
        return requests.submit(WriteRequest.orElse(false, (session, now) -> session.attach(sequence, recording)));
    }

    /** Returns the recording of an event. Reads the store. */
    public Optional<byte[]> recording(String eventId) {
        return read(sql -> sql.first(
                "SELECT bytes FROM recordings JOIN events ON event = sequence WHERE id = ?",
                row -> row.getBytes(1),
                eventId));
    }

    /** Returns the node's GPUs as they were last stored. */
    public KnownGpus gpus() {
        return writer.view().gpus();
    }

    /** Stores the node's GPUs for the next start. Does not wait; if the disk takes no writes, the driver reports them again. */
    public void keepGpus(KnownGpus known) {
        requests.add(WriteRequest.orElse(false, (session, now) -> {
            session.keep(known);
            return true;
        }));
    }

    @Override
    public void register(String receiver) {
        connections.register(receiver);
        requests.submit(WriteRequest.orElse(true, (session, now) -> {
            // If the disk takes no writes, the connection manager registers it with the next database that opens.
            session.outbox().register(receiver, session.lastSequence(), 0);
            return true;
        }));
    }

    /**
     * Removes all other receivers, so that no events are kept for receivers that are no longer configured. Blocks
     * until that is committed.
     */
    public void keepReceivers(Set<String> names) {
        connections.keep(names);
        requests.submit(WriteRequest.orElse(true, (session, now) -> {
            // If the disk takes no writes, the connection manager removes them from the next database that opens.
            session.outbox().keep(names);
            return true;
        }));
    }

    @Override
    public List<StoredEvent> next(String receiver, int max) {
        Long acknowledged = writer.view().acknowledged().get(receiver);
        return acknowledged == null ? List.of() : read(sql -> EventQuery.after(sql, acknowledged, max));
    }

    @Override
    public void acknowledge(String receiver, long sequence) {
        requests.submit(WriteRequest.of((session, now) -> {
            session.outbox().acknowledge(receiver, sequence, session.lastSequence());
            return true;
        }));
    }

    @Override
    public Lag lag(String receiver) {
        return writer.view().lags().getOrDefault(receiver, new Lag(0, 0));
    }

    /** Returns the state of the store. Reads memory, and the file's size. */
    public StoreStatus status() {
        CommittedState view = writer.view();
        return new StoreStatus(
                Optional.of(place.memoryCause()).filter(cause -> !cause.isEmpty()),
                writer.trouble(),
                place.bytes(),
                view.events(),
                view.lastSequence(),
                requests.size(),
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

    /** Returns the numbers of events received since start, by kind. */
    public Map<EventCounts.Kind, Long> counts() {
        return stats.counts().all();
    }

    private <T> T read(StoreReader.Query<T> query) {
        if (!place.inMemory()) {
            return writer.view() == CommittedState.EMPTY ? StoreReader.readNothing(query) : reader.read(query);
        }
        // A database in memory belongs to its one connection.
        return requests.submit(WriteRequest.of((session, now) -> query.run(session.sql())));
    }

    /** Has the writer check the whole file after a reader found it corrupt. */
    private void inspect(SQLException error) {
        requests.add(WriteRequest.of((session, now) -> {
            String complaint = Schema.complaint(session.sql());
            if (!complaint.isEmpty()) {
                throw Sql.ErrorKind.corrupt(complaint);
            }
            LOG.log(Level.WARNING, "a reader found the event store corrupt, but the writer's check passed", error);
            return true;
        }));
    }

    /** Writes the waiting requests and releases the file. */
    @Override
    public void close() {
        // The last connection that closes copies the write-ahead log into the file.
        reader.close();
        requests.end();
        var unused = thread.join(LONGEST_CLOSE);
        reader.close();
        place.close();
    }
}
