package dev.gpuwarden.daemon.kernlog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** A named pipe that somebody writes records into. What was read is gone from it, so nothing is read again after a restart. */
final class PipeSource implements LogSource {

    static final String KIND = "pipe";

    private static final int BUFFER_BYTES = 64 * 1024;

    private final Path pipe;
    private final LineParser records;
    private final Backoff patience = new Backoff(Duration.ofMinutes(1));
    private volatile @Nullable FileChannel channel;

    PipeSource(Path pipe, BootClock clock, ZoneId zone) {
        this.pipe = pipe;
        this.records = new LineParser(clock, zone);
    }

    @Override
    public String name() {
        return pipe.toString();
    }

    @Override
    public void read(Sink sink) {
        while (!patience.isClosed()) {
            // Opened for both, it neither blocks until there is a writer nor ends when the last one goes (fifo(7)).
            try (FileChannel open = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                channel = open;
                if (patience.isClosed()) {
                    return;
                }
                sink.readable();
                readAll(open, sink);
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                sink.unreadable(pipe + ": " + e.getMessage());
                patience.await();
            }
        }
    }

    private void readAll(FileChannel open, Sink sink) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        byte[] bytes = new byte[BUFFER_BYTES];
        LineSplitter lines = new LineSplitter(0);
        while (true) {
            buffer.clear();
            int size = open.read(buffer);
            if (size < 0) {
                throw new IOException("ended");
            }
            patience.reset();
            buffer.flip().get(bytes, 0, size);
            lines.feed(
                    bytes,
                    size,
                    (line, from, to, end) -> records.tell(line, from, to, sequence -> () -> KIND + ":" + pipe, sink));
        }
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
