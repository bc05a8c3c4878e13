package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's ring of messages. A read gives one record and blocks at the end; closing the channel ends it, since the JDK wakes
 * threads that block on a channel with a signal. At rest nothing runs.
 */
final class KmsgSource implements LogSource {

    static final String KIND = "kmsg";

    /** Records end at 8 KiB with escapes (printk.h, CONSOLE_EXT_LOG_MAX); one that is longer than the buffer gives EINVAL. */
    private static final int BUFFER_BYTES = 16 * 1024;

    /** A read fails once when records were overwritten, and the next one goes on; what fails more often is broken. */
    private static final int FAILURES = 3;

    /** A reader that follows nothing has seen the end when a read has lasted this long: the ring is memory. */
    private static final long END_MILLIS = 100;

    private final Path device;
    private final boolean follow;
    private final BootClock clock;
    private final Backoff patience = new Backoff(Duration.ofMinutes(1));
    private final byte[] bytes = new byte[BUFFER_BYTES];
    private volatile @Nullable FileChannel channel;
    private volatile long reads;
    private boolean begun;
    private long next;

    KmsgSource(Path device, Start start, boolean follow, BootClock clock) {
        this.device = device;
        this.follow = follow;
        this.clock = clock;
        Optional<Long> last = start.here(KIND).flatMap(KmsgSource::sequence);
        next = last.map(sequence -> sequence + 1).orElse(0L);
        // At the very first start it is no loss that the ring does not reach back to the boot any more, but to who asks
        // for
        // the whole boot it is.
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
    public String name() {
        return device.toString();
    }

    @Override
    public void read(Sink sink) {
        do {
            try (FileChannel opened = FileChannel.open(device, StandardOpenOption.READ)) {
                channel = opened;
                if (patience.isClosed()) {
                    return;
                }
                sink.readable();
                patience.reset();
                if (!follow) {
                    endWhenIdle();
                }
                readAll(opened, sink);
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                sink.unreadable(device + ": " + e.getMessage());
                if (follow) {
                    patience.await();
                }
            }
        } while (follow && !patience.isClosed());
    }

    private void readAll(FileChannel opened, Sink sink) throws IOException {
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
                // EPIPE: overwritten before it was read. The jump of the sequence tells how much.
                if (++failures > FAILURES) {
                    throw e;
                }
                continue;
            }
            reads++;
            if (length < 0) {
                throw new IOException("ended, which a kernel's log does not");
            }
            buffer.flip().get(bytes, 0, length);
            KmsgRecord.parse(bytes, 0, length)
                    .ifPresent(record -> tell(record, Duration.ofNanos(System.nanoTime() - before), sink));
        }
    }

    private void tell(KmsgRecord record, Duration waited, Sink sink) {
        long sequence = record.sequence();
        if (sequence < next) {
            // Read before: the ring was opened anew.
            return;
        }
        if (begun && sequence > next) {
            long lost = sequence - next;
            sink.gap(lost, lost + " records were overwritten in " + device + " before they were read");
        }
        begun = true;
        next = sequence + 1;
        clock.arrived(record.micros(), waited);
        sink.record(
                new KernelRecord(clock.at(record.micros()), record.writer(), record.text()),
                () -> KIND + ":" + sequence);
    }

    /** Whether more is there cannot be asked of this device without blocking. */
    private void endWhenIdle() {
        Thread watch = new Thread(
                () -> {
                    long seen = -1;
                    while (seen != reads && !patience.isClosed()) {
                        seen = reads;
                        java.util.concurrent.locks.LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(END_MILLIS));
                    }
                    close();
                },
                "gpuwarden-kernel-log-end");
        watch.setDaemon(true);
        watch.start();
    }

    @Override
    public void close() {
        patience.close();
        FileChannel open = channel;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The reader finds it closed all the same.
            }
        }
    }
}
