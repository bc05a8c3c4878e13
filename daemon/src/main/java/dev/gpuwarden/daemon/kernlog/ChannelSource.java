package dev.gpuwarden.daemon.kernlog;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A source that reads one file without an end. Closing its channel ends the read. */
abstract class ChannelSource implements LogSource {

    final Path file;
    final boolean follow;
    final RetryPause backoff = new RetryPause(Duration.ofMinutes(1));
    private final Set<OpenOption> options;
    private volatile @Nullable FileChannel channel;

    ChannelSource(Path file, boolean follow, OpenOption... options) {
        this.file = file;
        this.follow = follow;
        this.options = Set.of(options);
    }

    /** Reads until the channel is closed or fails. */
    abstract void readAll(FileChannel opened, Sink sink) throws IOException;

    @Override
    public final String name() {
        return file.toString();
    }

    @Override
    public final void read(Sink sink) {
        do {
            try (FileChannel opened = FileChannel.open(file, options)) {
                channel = opened;
                if (backoff.isClosed()) {
                    return;
                }
                sink.readable();
                readAll(opened, sink);
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                sink.unreadable(file + ": " + e.getMessage());
                if (follow) {
                    backoff.await();
                }
            }
        } while (follow && !backoff.isClosed());
    }

    @Override
    public final void close() {
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
