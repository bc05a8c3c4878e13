package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.daemon.kernlog.LogSource.ChannelSource;
import dev.gpuwarden.daemon.kernlog.logfile.LineSplitter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.ZoneId;

/** A named pipe into which another program writes records. A read removes them, so nothing is read again after a restart. */
final class PipeSource extends ChannelSource {

    static final String KIND = "pipe";

    private static final int BUFFER_BYTES = 64 * 1024;

    private final LineParser records;

    PipeSource(Path pipe, Boot boot, ZoneId zone, LineTrust trust) {
        // Opened for reading and writing, it neither blocks without a writer nor ends with the last one (fifo(7)).
        super(pipe, true, StandardOpenOption.READ, StandardOpenOption.WRITE);
        this.records = new LineParser(boot, zone, trust);
    }

    @Override
    public boolean provesNothing() {
        return records.provesNothing();
    }

    @Override
    void readAll(FileChannel open, Sink sink) throws IOException {
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
                    (line, from, to, end) -> records.parse(line, from, to, sequence -> () -> KIND + ":" + file, sink));
        }
    }
}
