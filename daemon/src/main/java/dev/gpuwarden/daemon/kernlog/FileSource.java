package dev.gpuwarden.daemon.kernlog;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A log file, followed while it is rotated by renaming or by copying and cutting. The kernel tells when files of its folder
 * change; beside that the file is looked at now and then, since file systems over a network tell nothing.
 */
final class FileSource implements LogSource {

    static final String KIND = "file";

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration UNTOLD = Duration.ofSeconds(1);

    private final Path file;
    private final Start start;
    private final boolean follow;
    private final LineParser records;
    private final Backoff patience = new Backoff(Duration.ofSeconds(5));
    private Optional<FilePosition> read = Optional.empty();
    private boolean readToEnd;
    private String watchedName = "";
    private volatile @Nullable WatchService watch;

    FileSource(Path file, Start start, boolean follow, BootClock clock, ZoneId zone) {
        this.file = file.toAbsolutePath();
        this.start = start;
        this.follow = follow;
        this.records = new LineParser(clock, zone);
    }

    @Override
    public String name() {
        return file.toString();
    }

    @Override
    public void read(Sink sink) {
        do {
            try {
                beginWatch();
                readAll(sink);
            } catch (ClosedWatchServiceException | ClosedChannelException e) {
                return;
            } catch (IOException e) {
                sink.unreadable(
                        e instanceof NoSuchFileException ? e.getMessage() + " does not exist" : file + ": " + e);
                if (follow) {
                    patience.await();
                }
            } finally {
                endWatch();
            }
        } while (follow && !patience.isClosed());
    }

    /** File after file. Which one is next is asked anew after each: more rotations may have come meanwhile. */
    private void readAll(Sink sink) throws IOException {
        RotatedFiles.Part part = read.isEmpty() ? first(sink) : next();
        while (!patience.isClosed()) {
            try (LogFileReader reading =
                    LogFileReader.open(part.file(), part.offset(), file, records, sink, this::comesNext)) {
                sink.readable();
                boolean newest = part.file().equals(file);
                boolean toEnd = read(reading, newest);
                if (newest && !follow && toEnd) {
                    return;
                }
            }
            part = next();
        }
    }

    /** Asked with the first bytes of a file in hand: if it was rotated before that, another file comes before. */
    private boolean comesNext(LogFileReader opened) {
        return read.isEmpty() || opened.isAt(next().file());
    }

    /** @return whether it was read to its end */
    private boolean read(LogFileReader reading, boolean newest) throws IOException {
        boolean toEnd = false;
        try {
            toEnd = newest && follow ? follow(reading) : reading.drain(patience::isClosed);
            if (toEnd) {
                reading.end();
            }
        } finally {
            // A file of which nothing was told is still to be found from the one before.
            if (reading.mark().offset() > 0 || read.isEmpty()) {
                read = Optional.of(reading.mark());
                readToEnd = toEnd;
            }
            patience.reset();
        }
        return toEnd;
    }

    /** @return false where the file was cut, so that a copy may hold its end */
    private boolean follow(LogFileReader reading) throws IOException {
        while (!patience.isClosed() && reading.drain(patience::isClosed)) {
            if (replaced(reading)) {
                // Its writer may have written until he turned to the new one.
                return reading.drain(patience::isClosed);
            }
            awaitChange();
        }
        return false;
    }

    /** Whether another file has this name and its writer has turned to it, or even that one was rotated. */
    private boolean replaced(LogFileReader reading) {
        if (reading.isAt(file)) {
            return false;
        }
        try {
            if (Files.size(file) > 0) {
                return true;
            }
        } catch (IOException e) {
            // Renamed, and the new one is not there yet.
        }
        return RotatedFiles.behind(file, reading.mark()).after().stream()
                .findFirst()
                .filter(next -> !next.file().equals(file))
                .isPresent();
    }

    /** What follows on what was read. */
    private RotatedFiles.Part next() {
        RotatedFiles.Trail trail = RotatedFiles.behind(file, read.orElseThrow());
        boolean done = trail.rest().isEmpty() || readToEnd && !trail.after().isEmpty();
        return done ? trail.after().get(0) : trail.rest().orElseThrow();
    }

    /** The mark, the number of the record where records have one, and the file's name. */
    static String cursor(FilePosition mark, long sequence, Path file) {
        return KIND + ":" + mark.text() + ":" + sequence + ":" + file;
    }

    private RotatedFiles.Part first(Sink sink) throws IOException {
        Optional<String> cursor = start.anyBoot(KIND).filter(text -> text.endsWith(":" + file));
        Optional<FilePosition> mark = cursor.flatMap(FilePosition::parse);
        if (mark.isEmpty()) {
            return sinceBoot(RotatedFiles.whole(file));
        }
        RotatedFiles.Trail trail = RotatedFiles.behind(file, mark.get());
        if (!start.sameBoot()) {
            return sinceBoot(trail.parts());
        }
        long sequence = FilePosition.sequence(cursor.orElseThrow());
        records.goOn(sequence);
        if (trail.rest().isPresent() || mark.get().offset() == 0) {
            return trail.parts().get(0);
        }
        if (sequence >= 0) {
            // Numbers tell what is new, and what is missing.
            return sinceBoot(RotatedFiles.whole(file));
        }
        sink.gap(0, "the file that was read before is not beside " + file + " any more");
        return trail.parts().get(0);
    }

    /** Where this boot began; if the log does not show that, where it would have gone on, or at the log's own beginning. */
    private RotatedFiles.Part sinceBoot(List<RotatedFiles.Part> parts) throws IOException {
        for (int i = parts.size() - 1; i >= 0; i--) {
            RotatedFiles.Part part = parts.get(i);
            Optional<Long> begins = BootStart.find(part.file());
            if (begins.isPresent()) {
                return new RotatedFiles.Part(part.file(), Math.max(begins.get(), part.offset()));
            }
        }
        return start.continued() ? parts.get(0) : new RotatedFiles.Part(file, 0);
    }

    /**
     * Watching begins before reading, so that nothing is written unseen in between. Where the kernel gives no watch, since each
     * user has a number of them, the file is looked at each second instead.
     */
    private void beginWatch() throws IOException {
        watch = null;
        // While it is rotated there may be none; former ones are read all the same.
        Path real = Files.exists(file) ? file.toRealPath() : file;
        Path folder = real.getParent();
        if (!follow || folder == null) {
            return;
        }
        watchedName = String.valueOf(real.getFileName());
        try {
            WatchService made = folder.getFileSystem().newWatchService();
            watch = made;
            folder.register(
                    made,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_MODIFY,
                    StandardWatchEventKinds.ENTRY_DELETE);
        } catch (IOException e) {
            endWatch();
            watch = null;
        }
        if (patience.isClosed()) {
            endWatch();
        }
    }

    private void awaitChange() {
        WatchService told = watch;
        if (told == null) {
            patience.pause(UNTOLD);
            return;
        }
        long until = System.nanoTime() + LOOK_NANOS;
        try {
            boolean changed = false;
            while (!changed) {
                WatchKey key = told.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (key == null) {
                    return;
                }
                changed = key.pollEvents().stream().anyMatch(this::concerns);
                key.reset();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            patience.close();
        }
    }

    /** Other programs log in the same folder. */
    private boolean concerns(WatchEvent<?> event) {
        return !(event.context() instanceof Path changed) || changed.toString().startsWith(watchedName);
    }

    private void endWatch() {
        WatchService open = watch;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // Nothing is lost with a watch.
            }
        }
    }

    @Override
    public void close() {
        patience.close();
        endWatch();
    }
}
