package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.util.Threads;
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
            KmsgRecord.parse(bytes, 0, length)
                    .ifPresent(record -> deliver(record, Duration.ofNanos(System.nanoTime() - before), sink));
        }
    }

    private void deliver(KmsgRecord record, Duration waited, Sink sink) {
        long sequence = record.sequence();
        if (sequence < next) {
            // Read before the ring was opened again.
            return;
        }
        if (begun && sequence > next) {
            long lost = sequence - next;
            sink.gap(lost, lost + " records were overwritten in " + file + " before they were read");
        }
        begun = true;
        next = sequence + 1;
        boot.arrived(record.micros(), waited);
        sink.record(
                new KernelRecord(boot.at(record.micros()), record.writer(), record.text()),
                () -> KIND + ":" + sequence);
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
}
