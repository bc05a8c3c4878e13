package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A source of kernel-log records. */
interface LogSource extends AutoCloseable {

    /** Returns the name for messages: "/dev/kmsg", "journald", a file's path. */
    String name();

    /**
     * Sends all records to the sink, from the source's start on. A source that follows then waits for more until it is closed, and
     * retries after failures; one that does not follow returns.
     */
    void read(Sink sink);

    /** Returns whether no line of this source shows who wrote it, whatever the line is. */
    default boolean provesNothing() {
        return false;
    }

    /** Makes {@code read} return soon. Any thread may call it. */
    @Override
    void close();

    /** A position behind a record, in the source's own terms. */
    interface Cursor {
        /** Makes the text, which is needed only when the position is stored. */
        String text();
    }

    /** A receiver of records, on the source's thread. It may block; the source then reads no further. */
    interface Sink {

        void record(KernelRecord record, Cursor behind);

        /**
         * Reports that records were lost before they were read.
         *
         * @param lost the number of records; 0 where it is unknown
         */
        void gap(long lost, String why);

        /** Reports that the log cannot be read now. */
        void unreadable(String why);

        /** Reports that the log can be read. */
        void readable();
    }

    /**
     * The start of reading.
     *
     * @param cursor the position behind the last record that was read; empty at the first start
     * @param sameBoot whether that record is of this boot; if not, this boot is read from its beginning
     */
    record Start(Optional<String> cursor, boolean sameBoot) {

        static final Start FIRST = new Start(Optional.empty(), true);

        static Start behind(String cursor) {
            return new Start(Optional.of(cursor), true);
        }

        static Start afterReboot(String cursor) {
            return new Start(Optional.of(cursor), false);
        }

        /** Returns whether this log was read before, so that records which are missing now were lost since. */
        boolean continued() {
            return cursor.isPresent();
        }

        /** Returns the cursor without "kind:", if it is of that kind and of this boot. */
        Optional<String> ofThisBoot(String kind) {
            return sameBoot ? ofAnyBoot(kind) : Optional.empty();
        }

        /** Returns the cursor without "kind:", if it is of that kind. */
        Optional<String> ofAnyBoot(String kind) {
            return cursor.filter(text -> text.startsWith(kind + ":")).map(text -> text.substring(kind.length() + 1));
        }
    }

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
}
