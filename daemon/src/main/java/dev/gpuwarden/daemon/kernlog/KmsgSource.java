package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.kernlog.LogSource.ChannelSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The kernel's ring of messages. A read returns one record and blocks at the end of the ring. Closing the channel ends the read: the
 * JDK wakes threads that block on a channel with a signal. While the kernel writes nothing, nothing runs.
 */
final class KmsgSource extends ChannelSource {

    static final String KIND = "kmsg";

    /** Records end at 8 KiB with escapes (printk.h, CONSOLE_EXT_LOG_MAX). A record longer than the buffer fails with EINVAL. */
    private static final int BUFFER_BYTES = 16 * 1024;

    /** A read fails once when records were overwritten, and the next one succeeds. More failures in a row are an error. */
    private static final int FAILURES = 3;

    /** A read that lasts this long has reached the end, because the ring is memory. */
    private static final long END_MILLIS = 100;

    /** The kernel's own facility. The kernel replaces it by 1 in records from user space. */
    private static final int KERNEL_FACILITY = 0;

    /** A receiver of a record's fields. */
    interface Fields<T> {
        /**
         * @param sequence the number of the record, which rises by one with each record of a boot
         * @param micros the time since boot, in microseconds
         */
        T read(Writer writer, long sequence, long micros, String text);
    }

    private final Boot boot;
    private final byte[] bytes = new byte[BUFFER_BYTES];
    private volatile long reads;
    private boolean begun;
    private long next;

    KmsgSource(Path device, Start start, boolean follow, Boot boot) {
        super(device, follow, StandardOpenOption.READ);
        this.boot = boot;
        Optional<Long> last = start.ofThisBoot(KIND).flatMap(KmsgSource::sequence);
        next = last.map(sequence -> sequence + 1).orElse(0L);
        // At the first start, overwritten records of the boot are no loss. For a scan of the whole boot they are.
        begun = start.continued() && (last.isPresent() || !start.sameBoot()) || !follow;
    }

    private static Optional<Long> sequence(String text) {
        try {
            return Optional.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    @Override
    void readAll(FileChannel opened, Sink sink) throws IOException {
        backoff.reset();
        if (!follow) {
            endWhenIdle();
        }
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        int failures = 0;
        while (true) {
            buffer.clear();
            long before = System.nanoTime();
            int length;
            try {
                length = opened.read(buffer);
                failures = 0;
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                // EPIPE: overwritten before it was read. The jump of the sequence number is the size of the gap.
                if (++failures > FAILURES) {
                    throw e;
                }
                continue;
            }
            reads++;
            if (length < 0) {
                throw new IOException("ended; expected a device that never ends");
            }
            buffer.flip().get(bytes, 0, length);
            Duration waited = Duration.ofNanos(System.nanoTime() - before);
            parse(bytes, 0, length, (writer, sequence, micros, text) -> {
                if (isNew(sequence, sink)) {
                    boot.arrived(micros, waited);
                    sink.record(new KernelRecord(boot.at(micros), writer, text), () -> KIND + ":" + sequence);
                }
                return sequence;
            });
        }
    }

    private boolean isNew(long sequence, Sink sink) {
        if (sequence < next) {
            // Read before the ring was opened again.
            return false;
        }
        if (begun && sequence > next) {
            long lost = sequence - next;
            sink.gap(lost, lost + " records were overwritten in " + file + " before they were read");
        }
        begun = true;
        next = sequence + 1;
        return true;
    }

    /** Closes the source when no read returns: the device has no call that reports its end without blocking. */
    private void endWhenIdle() {
        Threads.daemon("gpuwarden-kernel-log-end", () -> {
                    long seen = -1;
                    while (seen != reads && !backoff.isClosed()) {
                        seen = reads;
                        java.util.concurrent.locks.LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(END_MILLIS));
                    }
                    close();
                })
                .start();
    }

    /**
     * Reads a record in the form of /dev/kmsg: {@code 6,339,5140900,-,caller=T1;text}. Lines {@code  KEY=value} behind it are skipped
     * (Documentation/ABI/testing/dev-kmsg). Returns the result of the fields; empty for other bytes.
     */
    static <T> Optional<T> parse(byte[] bytes, int from, int to, Fields<T> fields) {
        int at = from;
        long[] numbers = new long[3];
        for (int field = 0; field < 3; field++) {
            int start = at;
            long value = 0;
            while (at < to && bytes[at] >= '0' && bytes[at] <= '9' && at - start < 19) {
                value = value * 10 + bytes[at++] - '0';
            }
            if (at == start || at >= to || bytes[at] != ',' || value < 0) {
                return Optional.empty();
            }
            numbers[field] = value;
            at++;
        }
        while (at < to && bytes[at] != ';' && bytes[at] != '\n') {
            at++;
        }
        if (at >= to || bytes[at] != ';') {
            return Optional.empty();
        }
        at++;
        int end = at;
        boolean escaped = false;
        while (end < to && bytes[end] != '\n') {
            escaped |= bytes[end] == '\\';
            end++;
        }
        Writer writer = numbers[0] >> 3 == KERNEL_FACILITY ? Writer.KERNEL : Writer.PRIVILEGED;
        String text = escaped ? unescaped(bytes, at, end) : KernelRecord.clean(bytes, at, end);
        return Optional.of(fields.read(writer, numbers[1], numbers[2], text));
    }

    /** Decodes {@code \x0a}, the kernel's form of bytes that are not printable ASCII, and of the backslash. */
    private static String unescaped(byte[] bytes, int from, int to) {
        byte[] plain = new byte[to - from];
        int length = 0;
        int i = from;
        while (i < to) {
            int value = bytes[i] == '\\' && i + 3 < to && bytes[i + 1] == 'x' ? hex(bytes[i + 2], bytes[i + 3]) : -1;
            plain[length++] = value >= 0 ? (byte) value : bytes[i];
            i += value >= 0 ? 4 : 1;
        }
        return KernelRecord.clean(plain, 0, length);
    }

    private static int hex(byte high, byte low) {
        int h = Character.digit(high, 16);
        int l = Character.digit(low, 16);
        return h < 0 || l < 0 ? -1 : h << 4 | l;
    }
}
