package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.daemon.kernlog.logfile.LineSplitter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** A named pipe into which another program writes records. A read removes them, so nothing is read again after a restart. */
final class PipeSource implements LogSource {

    static final String KIND = "pipe";

    private static final int BUFFER_BYTES = 64 * 1024;

    private final Path pipe;
    private final LineParser records;
    private final RetryPause backoff = new RetryPause(Duration.ofMinutes(1));
    private volatile @Nullable FileChannel channel;

    PipeSource(Path pipe, Boot boot, ZoneId zone) {
        this.pipe = pipe;
        this.records = new LineParser(boot, zone);
    }

    @Override
    public String name() {
        return pipe.toString();
    }

    @Override
    public void read(Sink sink) {
        while (!backoff.isClosed()) {
            // Opened for reading and writing, it neither blocks without a writer nor ends with the last one (fifo(7)).
            try (FileChannel open = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                channel = open;
                if (backoff.isClosed()) {
                    return;
                }
                sink.readable();
                readAll(open, sink);
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                sink.unreadable(pipe + ": " + e.getMessage());
                backoff.await();
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
            backoff.reset();
            buffer.flip().get(bytes, 0, size);
            lines.feed(
                    bytes,
                    size,
                    (line, from, to, end) -> records.parse(line, from, to, sequence -> () -> KIND + ":" + pipe, sink));
        }
    }

    @Override
    public void close() {
        backoff.close();
        FileChannel open = channel;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The reader sees a closed channel all the same.
            }
        }
    }
}
