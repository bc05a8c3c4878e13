package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * The node's /dev/kmsg: a regular file of records as the device delivers them. Records are appended as a whole; to drop old ones, the
 * file is replaced. Processes may write at the same time: a lock orders them.
 */
final class KernelLog {

    /** One lock per file and JVM: file locks hold between processes only. */
    private static final Map<Path, Object> LOCKS = new ConcurrentHashMap<>();

    /**
     * @param next number of the next record
     * @param micros time of the last record
     * @param stormScale thousandths
     */
    private record State(long next, long micros, long stormScale) {
        static final int BYTES = 3 * Long.BYTES;
    }

    /** A record and its time since boot. */
    record Timed(long micros, KernelLine line) {}

    private final Path file;
    private final Path state;
    private final ProcFiles proc;
    private final Clock clock;
    private final Object lock;

    KernelLog(NodeFolder folder, ProcFiles proc, Clock clock) {
        this.file = folder.kernelLog();
        this.state = folder.kernelLogState();
        this.proc = proc;
        this.clock = clock;
        this.lock = LOCKS.computeIfAbsent(state.toAbsolutePath().normalize(), p -> new Object());
    }

    /** Replaces the log: numbers start from 0, and these records are the first. */
    void boot(List<Timed> records) {
        long micros = records.isEmpty() ? 0 : records.get(records.size() - 1).micros();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < records.size(); i++) {
            text.append(records.get(i).line().record(i, records.get(i).micros()));
        }
        change(StandardOpenOption.CREATE, before -> {
            Tree.replace(file, text.toString());
            return new State(records.size(), micros, before.stormScale());
        });
    }

    /** Appends records of the same time in one write. */
    void append(List<KernelLine> lines) {
        if (lines.isEmpty()) {
            return;
        }
        change(StandardOpenOption.WRITE, before -> {
            Instant now = clock.instant();
            long micros = Math.max(
                    before.micros(), Duration.between(proc.booted(), now).toNanos() / 1000);
            long next = before.next();
            StringBuilder text = new StringBuilder();
            for (KernelLine line : lines) {
                text.append(line.record(next++, micros));
            }
            Unchecked.run(() -> Files.writeString(file, text, StandardCharsets.US_ASCII, StandardOpenOption.APPEND));
            return new State(next, micros, before.stormScale());
        });
    }

    /** Drops the oldest records, as a full ring does; keeps the newest one. */
    void drop(long count) {
        change(StandardOpenOption.WRITE, before -> {
            String text = Tree.read(file);
            int from = 0;
            for (long left = count; left > 0; left--) {
                int next = nextRecord(text, from);
                if (next == text.length()) {
                    break;
                }
                from = next;
            }
            Tree.replace(file, text.substring(from));
            return before;
        });
    }

    /** Rotates the file as logrotate does: it gets another name, and a new file continues the numbers. */
    void rotate() {
        change(StandardOpenOption.WRITE, before -> {
            Path former = file.resolveSibling(file.getFileName() + ".1");
            Tree.delete(former);
            Tree.move(file, former);
            Tree.write(file, "");
            return before;
        });
    }

    private static int nextRecord(String text, int from) {
        int at = from;
        do {
            int end = text.indexOf('\n', at);
            at = end < 0 ? text.length() : end + 1;
        } while (at < text.length() && text.charAt(at) == ' ');
        return at;
    }

    /** Skips this many numbers, as records that came and went without a reader. */
    void skip(long count) {
        change(
                StandardOpenOption.WRITE,
                before -> new State(before.next() + count, before.micros(), before.stormScale()));
    }

    void scaleStorms(long thousandths) {
        change(StandardOpenOption.WRITE, before -> new State(before.next(), before.micros(), thousandths));
    }

    /** Returns the factor of the storms' line counts, in thousandths. */
    long stormScale() {
        long[] scale = new long[1];
        change(StandardOpenOption.WRITE, before -> {
            scale[0] = before.stormScale();
            return before;
        });
        return scale[0];
    }

    private void change(StandardOpenOption mode, UnaryOperator<State> change) {
        synchronized (lock) {
            try (FileChannel channel =
                            FileChannel.open(state, StandardOpenOption.READ, StandardOpenOption.WRITE, mode);
                    FileLock turn = channel.lock()) {
                ByteBuffer bytes = ByteBuffer.allocate(State.BYTES);
                State before = channel.read(bytes, 0) == State.BYTES
                        ? new State(bytes.getLong(0), bytes.getLong(8), bytes.getLong(16))
                        : new State(0, 0, 1000);
                State after = change.apply(before);
                bytes.clear();
                bytes.putLong(after.next()).putLong(after.micros()).putLong(after.stormScale());
                channel.write(bytes.flip(), 0);
                assert turn.isValid();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
