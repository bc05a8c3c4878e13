package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.daemon.kernlog.Occurrence.Repetitions;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A buffer of kernel-log events, which it stores in batches with the position in the log. The first event of a fault is due
 * immediately. Its repetitions within the window are counted, and become one event at the window's end or with the next batch. A
 * batch takes everything that waits, so the stored position never lies ahead of the stored events.
 *
 * <p>Thread-safe with one lock. One thread adds events and waits in {@link #awaitRoom}; another runs {@link #run}.
 */
final class EventBatcher {

    /** The store's name for the position in the log, independent of the source. */
    static final String POSITION = "kernel-log";

    /** The store's name for the GPUs' addresses and UUIDs of a boot. */
    static final String NAMES = "kernel-log-names";

    /** The bound of faults that are counted separately. A node with 64 GPUs and 60 codes each has 3840. */
    static final int MOST_KEYS = 4096;

    /** The number of waiting events at which the reader must wait for the store. */
    private static final int FULL = 2048;

    /** Without events, a crash causes at most this much of the log to be read again. */
    private static final long SAVE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final long FAR_NANOS = TimeUnit.DAYS.toNanos(365);

    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final System.Logger LOG = System.getLogger(KernelLogMonitor.class.getName());

    /**
     * One hand-over to the store.
     *
     * @param clear whether quiet faults are due for clearing
     * @param last whether the batcher was stopped, so that no batch follows
     */
    private record Batch(
            List<HealthEvent> events,
            boolean clear,
            Optional<Position> position,
            Optional<Position> names,
            boolean last) {}

    private final long windowNanos;
    private final LongSupplier nanoTime;
    private final RetryPause retry = new RetryPause(LONGEST_RETRY);
    private final Map<Occurrence.Key, Repetitions> repetitions = new LinkedHashMap<>();
    private final List<HealthEvent> ready = new ArrayList<>();
    private int waiting;
    private long due = Long.MAX_VALUE;
    private long collapsed;
    private String bootId = "";
    private LogSource.Cursor cursor = () -> "";
    private Optional<Position> names = Optional.empty();
    private boolean unsaved;
    private long savedAt;
    private long clearAt;
    private long sleepsUntil;
    private boolean stopping;
    private volatile long stored;
    private volatile long unstored;

    /** @param nanoTime the monotonic clock of the window, in nanoseconds */
    EventBatcher(Duration window, LongSupplier nanoTime) {
        this.windowNanos = window.toNanos();
        this.nanoTime = nanoTime;
        savedAt = nanoTime.getAsLong();
        clearAt = savedAt;
    }

    /** Sets the position that an earlier process stored. */
    synchronized void resume(String boot, String stored) {
        bootId = boot;
        cursor = () -> stored;
    }

    /** Stores the names of GPUs with the next batch, before its events. */
    synchronized void saveNames(String boot, String text) {
        names = Optional.of(new Position(NAMES, boot, text));
    }

    /**
     * Adds the occurrences of one record. Does not wait.
     *
     * @param occurrences may be empty: the position advances all the same
     * @param boot the id of the record's boot
     * @param behind the position behind the record
     */
    synchronized void add(List<Occurrence> occurrences, String boot, LogSource.Cursor behind) {
        bootId = boot;
        cursor = behind;
        unsaved = true;
        for (Occurrence occurrence : occurrences) {
            if (occurrence.healthy()) {
                addRecovery(occurrence.event().get().build());
            } else {
                count(occurrence);
            }
        }
        if (dueNanos() - sleepsUntil < 0) {
            notifyAll();
        }
    }

    /** Waits until the batcher has room. The kernel's ring, the file or the pipe holds further records for that time. */
    synchronized void awaitRoom() {
        while (isFull() && !stopping) {
            sleep(FAR_NANOS);
        }
    }

    private void count(Occurrence occurrence) {
        long now = nanoTime.getAsLong();
        Occurrence.Key key = occurrence.key();
        Repetitions same = repetitions.get(key);
        if (same == null) {
            makeRoom(now);
            same = new Repetitions(key, now);
            repetitions.put(key, same);
        } else if (same.isEmpty()) {
            // Keeps the map in the order in which the events leave it.
            repetitions.remove(key);
            repetitions.put(key, same);
        }
        if (same.isEmpty()) {
            waiting++;
            due = due == Long.MAX_VALUE || same.quietUntil() - due < 0 ? Math.max(same.quietUntil(), now) : due;
        }
        same.add(occurrence, bootId, cursor);
    }

    /** Adds an event that clears faults, behind all that waits for its entities; without entities, behind all that waits. */
    private void addRecovery(HealthEvent event) {
        repetitions.entrySet().removeIf(entry -> {
            boolean concerned = event.entities().isEmpty()
                    || entry.getKey().entities().stream().anyMatch(event.entities()::contains);
            if (concerned) {
                // Without its entry, the next occurrence is a first one, and due immediately.
                flush(entry.getValue());
            }
            return concerned;
        });
        ready.add(event);
        due = nanoTime.getAsLong();
    }

    private void makeRoom(long now) {
        if (repetitions.size() >= MOST_KEYS) {
            Iterator<Repetitions> oldest = repetitions.values().iterator();
            flush(oldest.next());
            oldest.remove();
            due = now;
        }
    }

    private void flush(Repetitions same) {
        if (!same.isEmpty()) {
            ready.add(same.event());
            collapsed += same.count() - 1;
            same.clear();
            waiting--;
        }
    }

    /** Returns whether the reader must wait, or in a single thread {@link #flush()}. */
    synchronized boolean isFull() {
        return ready.size() + waiting >= FULL;
    }

    /** Returns whether events are due. */
    synchronized boolean isDue() {
        return !isEmpty() && due - nanoTime.getAsLong() <= 0;
    }

    synchronized boolean isEmpty() {
        return ready.isEmpty() && waiting == 0;
    }

    /** Returns the number of repetitions that became part of another event. */
    synchronized long collapsed() {
        return collapsed;
    }

    /** Returns the position behind the last added record; empty text before the first one. */
    synchronized String cursor() {
        return cursor.text();
    }

    /** Returns the number of events that were handed to the store. */
    long stored() {
        return stored;
    }

    /** Returns how many of those events the store could not write immediately. */
    long unstored() {
        return unstored;
    }

    /** Takes all events that wait, in order, due or not. */
    synchronized List<HealthEvent> flush() {
        long now = nanoTime.getAsLong();
        Iterator<Repetitions> all = repetitions.values().iterator();
        while (all.hasNext()) {
            Repetitions same = all.next();
            if (!same.isEmpty()) {
                flush(same);
                same.quietUntil(now + windowNanos);
            } else if (same.quietUntil() - now <= 0) {
                all.remove();
            }
        }
        List<HealthEvent> taken = List.copyOf(ready);
        ready.clear();
        due = Long.MAX_VALUE;
        return taken;
    }

    /**
     * Stores the next batch. Blocks; waits without end for a store that accepts nothing.
     *
     * @return whether there is a next one, for a {@link LoopThread}
     */
    long storeNext(BatchTarget target) {
        Batch batch = take();
        // After a failure a later batch must not store its position: it lies ahead of these events.
        return deliver(batch, target) && !batch.last() ? 0 : LoopThread.ENDED;
    }

    /** Makes the next batch the last one. Any thread may call it. */
    void stop() {
        retry.close();
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
    }

    private synchronized Batch take() {
        long now = nanoTime.getAsLong();
        while (!stopping && dueNanos() - now > 0) {
            sleepsUntil = dueNanos();
            sleep(sleepsUntil - now);
            now = nanoTime.getAsLong();
        }
        sleepsUntil = now;
        List<HealthEvent> events = flush();
        Optional<Position> position =
                unsaved ? Optional.of(new Position(POSITION, bootId, cursor.text())) : Optional.empty();
        Optional<Position> newNames = names;
        names = Optional.empty();
        unsaved = false;
        savedAt = now;
        // The reader may wait for room.
        notifyAll();
        return new Batch(events, clearAt - now <= 0, position, newNames, stopping);
    }

    private long dueNanos() {
        long next = Math.min(clearAt, unsaved ? savedAt + SAVE_NANOS : nanoTime.getAsLong() + FAR_NANOS);
        return isEmpty() ? next : Math.min(next, due);
    }

    private void sleep(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(nanos, 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stopping = true;
        }
    }

    /** Retries until the store accepts the batch; once more after the stop. The store itself keeps what it cannot write. */
    private boolean deliver(Batch batch, BatchTarget target) {
        while (true) {
            boolean lastTry = retry.isClosed();
            try {
                store(batch, target);
                retry.reset();
                return true;
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "events of the kernel log could not be stored", e);
                target.error().accept("events could not be stored: " + e);
            }
            if (lastTry) {
                return false;
            }
            retry.await();
        }
    }

    private void store(Batch batch, BatchTarget target) {
        // Names come first: the next process must find the GPU of every stored event.
        batch.names.ifPresent(position -> target.intake().accept(List.of(), Optional.of(position)));
        List<HealthEvent> all = target.eventsOf(batch.events, batch.clear);
        if (!all.isEmpty() || batch.position.isPresent()) {
            unstored += target.intake().accept(all, batch.position).stream()
                    .filter(receipt -> receipt == Receipt.HELD || receipt == Receipt.REFUSED)
                    .count();
        }
        stored += all.size();
        Optional<Duration> pause = target.untilClear();
        synchronized (this) {
            clearAt = nanoTime.getAsLong() + pause.map(Duration::toNanos).orElse(FAR_NANOS);
        }
    }
}
