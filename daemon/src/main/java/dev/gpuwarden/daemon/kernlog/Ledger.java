package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventIntake.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.KernelRecord;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What was read and not handed over yet, and how far reading has come. One thread reads into it, another takes from it; each
 * waits here, the first when there is no room, the second when nothing is due.
 */
final class Ledger {

    /** Under this name the store keeps how far the log was read, whatever source it was. */
    static final String POSITION = "kernel-log";

    /** And under this one, which GPU was where in that boot. */
    static final String NAMES = "kernel-log-names";

    /** With nothing to tell, so much is read again after a crash. */
    private static final long SAVE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final long FAR_NANOS = TimeUnit.DAYS.toNanos(365);

    private final Boot boot;
    private final GpuNames names;
    private final EventBatcher tallies;
    private final KernelMessageClassifier interpreter;
    private final LongSupplier nanoTime;
    private LogSource.Cursor read = () -> "";
    private boolean unsaved;
    private long savedAt;
    private long liftAt;
    private long sleepsUntil;
    private boolean stopping;

    /**
     * What goes to the store at once.
     *
     * @param lift whether it is time to see what has been quiet
     * @param last whether nothing comes after
     */
    record Batch(
            List<HealthEvent> news,
            boolean lift,
            Optional<Position> position,
            Optional<Position> names,
            boolean last) {}

    Ledger(
            Boot boot,
            GpuNames names,
            EventBatcher tallies,
            KernelMessageClassifier interpreter,
            LongSupplier nanoTime) {
        this.boot = boot;
        this.names = names;
        this.tallies = tallies;
        this.interpreter = interpreter;
        this.nanoTime = nanoTime;
        savedAt = nanoTime.getAsLong();
        liftAt = savedAt;
    }

    /** Takes up what an earlier process stored; returns where reading is to begin. */
    synchronized LogSource.Start begin(
            Optional<Position> last, Optional<Position> known, Supplier<List<Fault>> faults) {
        known.filter(this::ofThisBoot).ifPresent(position -> names.recall(position.cursor()));
        if (last.isEmpty()) {
            return LogSource.Start.FIRST;
        }
        String cursor = last.get().cursor();
        if (ofThisBoot(last.get())) {
            interpreter.goOn(faults.get());
            read = () -> cursor;
            return LogSource.Start.behind(cursor);
        }
        // Before anything of this boot is told. The new boot's id is kept with it, even if nothing can be read.
        interpreter.rebooted();
        read = () -> "boot:";
        unsaved = true;
        return LogSource.Start.afterReboot(cursor);
    }

    private boolean ofThisBoot(Position position) {
        return position.bootId().equals(boot.id());
    }

    /** Interprets the record, and waits until there is room for what comes of the next one. */
    synchronized void read(KernelRecord record, LogSource.Cursor behind) {
        try {
            if (boot.begins(record)) {
                interpreter.rebooted();
            }
            interpreter.read(record, behind);
        } finally {
            read = behind;
            unsaved = true;
            if (dueNanos() - sleepsUntil < 0) {
                notifyAll();
            }
        }
        while (tallies.many() && !stopping) {
            // The kernel's ring, the file or the pipe holds what comes meanwhile.
            sleep(FAR_NANOS);
        }
    }

    /** Waits until something is due. */
    synchronized Batch take() {
        long now = nanoTime.getAsLong();
        while (!stopping && dueNanos() - now > 0) {
            sleepsUntil = dueNanos();
            sleep(sleepsUntil - now);
            now = nanoTime.getAsLong();
        }
        sleepsUntil = now;
        List<HealthEvent> news = tallies.take(now);
        Optional<Position> position = unsaved ? Optional.of(position(POSITION, read.text())) : Optional.empty();
        Optional<Position> known = names.news().map(text -> position(NAMES, text));
        unsaved = false;
        savedAt = now;
        // Who waits for room goes on.
        notifyAll();
        return new Batch(news, liftAt - now <= 0, position, known, stopping);
    }

    private Position position(String source, String cursor) {
        return new Position(source, boot.id(), cursor);
    }

    /** When something is to be handed over. */
    private long dueNanos() {
        long due = Math.min(liftAt, unsaved ? savedAt + SAVE_NANOS : nanoTime.getAsLong() + FAR_NANOS);
        return tallies.isEmpty() ? due : Math.min(due, tallies.dueNanos());
    }

    /** When to look next at what has been quiet; empty where nothing can be. */
    synchronized void lookIn(Optional<Duration> time) {
        liftAt = nanoTime.getAsLong() + time.map(Duration::toNanos).orElse(FAR_NANOS);
    }

    /** Waits, unless it ends. */
    synchronized boolean pause(Duration time) {
        if (!stopping) {
            sleepsUntil = nanoTime.getAsLong();
            sleep(time.toNanos());
        }
        return !stopping;
    }

    /** The next batch is the last. */
    synchronized void stop() {
        stopping = true;
        notifyAll();
    }

    private void sleep(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(nanos, 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stopping = true;
        }
    }

    synchronized String cursor() {
        return read.text();
    }

    synchronized long collapsed() {
        return tallies.collapsed();
    }
}
