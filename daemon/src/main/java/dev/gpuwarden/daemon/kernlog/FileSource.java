package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.daemon.kernlog.logfile.FilePosition;
import dev.gpuwarden.daemon.kernlog.logfile.LogFileReader;
import dev.gpuwarden.daemon.kernlog.logfile.RotatedFiles;
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
 * A log file, followed while it is rotated by renaming or by copying and truncating. The kernel reports changes in the file's
 * folder. Network file systems report none, so the file is also examined every 30 s.
 */
final class FileSource implements LogSource {

    static final String KIND = "file";

    private static final long EXAMINE_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration WITHOUT_WATCH = Duration.ofSeconds(1);

    private final Path file;
    private final Start start;
    private final boolean follow;
    private final LineParser records;
    private final RetryPause backoff = new RetryPause(Duration.ofSeconds(5));
    private Optional<FilePosition> read = Optional.empty();
    private boolean readToEnd;
    private String watchedName = "";
    private volatile @Nullable WatchService watch;

    FileSource(Path file, Start start, boolean follow, Boot boot, ZoneId zone, LineTrust trust) {
        this.file = file.toAbsolutePath();
        this.start = start;
        this.follow = follow;
        this.records = new LineParser(boot, zone, trust);
    }

    @Override
    public boolean provesNothing() {
        return records.provesNothing();
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
                    backoff.await();
                }
            } finally {
                endWatch();
            }
        } while (follow && !backoff.isClosed());
    }

    /** Reads file after file. Looks up the next one after each, because the log may be rotated again while it is read. */
    private void readAll(Sink sink) throws IOException {
        LogFileReader.Lines lines = (bytes, from, to, at, end) ->
                records.parse(bytes, from, to, sequence -> () -> cursor(at.at(end), sequence), sink);
        RotatedFiles.Part part = read.isEmpty() ? first(sink) : next();
        while (!backoff.isClosed()) {
            try (LogFileReader reader = LogFileReader.open(part.file(), part.offset(), lines, this::isNext)) {
                records.newFile();
                sink.readable();
                boolean newest = part.file().equals(file);
                boolean toEnd = read(reader, newest);
                if (newest && !follow && toEnd) {
                    return;
                }
            }
            part = next();
        }
    }

    /** Called after the first bytes were read: if the file was rotated before that, another file comes first. */
    private boolean isNext(LogFileReader opened) {
        return read.isEmpty() || opened.isAt(next().file());
    }

    /** @return whether the file was read to its end */
    private boolean read(LogFileReader reader, boolean newest) throws IOException {
        boolean toEnd = false;
        try {
            toEnd = newest && follow ? follow(reader) : reader.drain(backoff::isClosed);
            if (toEnd) {
                reader.end();
            }
        } finally {
            // A file without a delivered line is found from the position in the one before.
            if (reader.position().offset() > 0 || read.isEmpty()) {
                read = Optional.of(reader.position());
                readToEnd = toEnd;
            }
            backoff.reset();
        }
        return toEnd;
    }

    /** @return false where the file was truncated, so that a copy may contain its end */
    private boolean follow(LogFileReader reader) throws IOException {
        while (!backoff.isClosed() && reader.drain(backoff::isClosed)) {
            if (replaced(reader)) {
                // Its writer may have written to it until it opened the new file.
                return reader.drain(backoff::isClosed);
            }
            awaitChange();
        }
        return false;
    }

    /** Returns whether another file has the name and its writer has turned to it, or even that one was rotated. */
    private boolean replaced(LogFileReader reader) {
        if (reader.isAt(file)) {
            return false;
        }
        try {
            if (Files.size(file) > 0) {
                return true;
            }
        } catch (IOException e) {
            // Renamed, and the new one does not exist yet.
        }
        return RotatedFiles.behind(file, reader.position()).later().stream()
                .findFirst()
                .filter(next -> !next.file().equals(file))
                .isPresent();
    }

    private RotatedFiles.Part next() {
        RotatedFiles.Unread unread = RotatedFiles.behind(file, read.orElseThrow());
        boolean done = unread.rest().isEmpty() || readToEnd && !unread.later().isEmpty();
        return done ? unread.later().get(0) : unread.rest().orElseThrow();
    }

    /** Returns the position, the sequence number where records have one, and the file's name. */
    private String cursor(FilePosition position, long sequence) {
        return KIND + ":" + position.text() + ":" + sequence + ":" + file;
    }

    /** Returns the sequence number in a cursor; -1 where it has none. */
    private static long sequence(String cursor) {
        String[] parts = cursor.split(":", -1);
        try {
            return parts.length > 4 ? Long.parseLong(parts[4]) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private RotatedFiles.Part first(Sink sink) throws IOException {
        Optional<String> cursor = start.ofAnyBoot(KIND).filter(text -> text.endsWith(":" + file));
        Optional<FilePosition> position = cursor.flatMap(FilePosition::parse);
        if (position.isEmpty()) {
            return sinceBoot(RotatedFiles.whole(file));
        }
        RotatedFiles.Unread unread = RotatedFiles.behind(file, position.get());
        if (!start.sameBoot()) {
            return sinceBoot(unread.parts());
        }
        long sequence = sequence(cursor.orElseThrow());
        records.resume(sequence);
        if (unread.rest().isPresent() || position.get().offset() == 0) {
            return unread.parts().get(0);
        }
        if (sequence >= 0) {
            // The sequence numbers show which records are new, and which are missing.
            return sinceBoot(RotatedFiles.whole(file));
        }
        sink.gap(0, "the file that was read before is no longer beside " + file);
        return unread.parts().get(0);
    }

    /** Returns the beginning of this boot; if the log does not show it, the first unread part, or the log's own beginning. */
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
     * Starts the watch before the first read, so that no write is missed in between. The kernel limits the watches of each user;
     * without one the file is examined every second.
     */
    private void beginWatch() throws IOException {
        watch = null;
        // During a rotation the file may be missing; the rotated ones can be read all the same.
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
        if (backoff.isClosed()) {
            endWatch();
        }
    }

    private void awaitChange() {
        WatchService watching = watch;
        if (watching == null) {
            backoff.pause(WITHOUT_WATCH);
            return;
        }
        long until = System.nanoTime() + EXAMINE_NANOS;
        try {
            boolean changed = false;
            while (!changed) {
                WatchKey key = watching.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (key == null) {
                    return;
                }
                changed = key.pollEvents().stream().anyMatch(this::concerns);
                key.reset();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            backoff.close();
        }
    }

    /** Returns whether the change concerns this log: other programs log in the same folder. */
    private boolean concerns(WatchEvent<?> event) {
        return !(event.context() instanceof Path changed) || changed.toString().startsWith(watchedName);
    }

    private void endWatch() {
        WatchService open = watch;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // A watch holds no data.
            }
        }
    }

    @Override
    public void close() {
        backoff.close();
        endWatch();
    }
}
