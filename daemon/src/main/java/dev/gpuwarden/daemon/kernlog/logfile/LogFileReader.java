package dev.gpuwarden.daemon.kernlog.logfile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** An open log file, read line by line. Stays with that file when its name changes. Not thread-safe. */
public final class LogFileReader implements AutoCloseable {

    private static final int BUFFER_BYTES = 64 * 1024;

    /** The number of attempts to open one file under a name that is replaced. */
    private static final int ATTEMPTS = 10;

    private final FileChannel open;
    private final Lines lines;
    private final Predicate<LogFileReader> next;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private final LineSplitter splitter;
    private byte[] head;
    private FilePosition start;

    /** A receiver of lines. */
    public interface Lines {
        /**
         * Receives a line.
         *
         * @param start the file, for the position behind the line: {@code start.at(end)}
         * @param end the offset behind the line, in bytes
         */
        void line(byte[] bytes, int from, int to, FilePosition start, long end);
    }

    private LogFileReader(
            FileChannel open, long inode, long offset, byte[] head, Lines lines, Predicate<LogFileReader> next) {
        this.open = open;
        this.head = head;
        this.start = FilePosition.of(inode, offset, head);
        this.lines = lines;
        this.next = next;
        this.splitter = new LineSplitter(offset);
    }

    /**
     * Opens a file.
     *
     * @param offset the offset of the first line to read, in bytes
     * @param next returns whether this file is still the next one to read; called when the first bytes were read and no line of
     *     them was delivered
     */
    public static LogFileReader open(Path file, long offset, Lines lines, Predicate<LogFileReader> next)
            throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            long before = FilePosition.inode(file);
            FileChannel open = FileChannel.open(file, StandardOpenOption.READ);
            try {
                if (FilePosition.inode(file) == before) {
                    byte[] head = FilePosition.head(open, (int) Math.min(offset, FilePosition.MOST_HEAD_BYTES));
                    return new LogFileReader(open, before, offset, head, lines, next);
                }
            } catch (IOException e) {
                open.close();
                throw e;
            }
            open.close();
        }
        throw new IOException(file + " is replaced faster than it can be opened");
    }

    /** Returns the position behind the last whole line. */
    public FilePosition position() {
        return start.at(splitter.ended());
    }

    private boolean intact() throws IOException {
        return open.size() >= splitter.consumed()
                && java.util.Arrays.equals(FilePosition.head(open, head.length), head);
    }

    /** Returns whether this name leads to the open file. */
    public boolean isAt(Path name) {
        try {
            return FilePosition.inode(name) == start.inode();
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Reads to the file's present end. Does not wait for more.
     *
     * @return false where the file no longer contains the bytes that were read, where it is not the next one, and when stopped
     */
    public boolean drain(BooleanSupplier stop) throws IOException {
        while (!stop.getAsBoolean()) {
            buffer.clear();
            int size = open.read(buffer, splitter.consumed());
            // The check follows the read: a file that was truncated and rewritten before it returned other bytes than
            // its rest.
            if (!intact()) {
                return false;
            }
            if (size <= 0) {
                return true;
            }
            if (splitter.consumed() == 0 && !next.test(this)) {
                return false;
            }
            growHead(size);
            splitter.feed(buffer.array(), size, this::deliver);
        }
        return false;
    }

    private void growHead(int size) {
        int more = Math.min(size, FilePosition.MOST_HEAD_BYTES - head.length);
        if (more > 0) {
            int had = head.length;
            head = java.util.Arrays.copyOf(head, had + more);
            System.arraycopy(buffer.array(), 0, head, had, more);
            start = FilePosition.of(start.inode(), start.offset(), head);
        }
    }

    /** Delivers the last line although it has no line break. */
    public void end() {
        splitter.end(this::deliver);
    }

    private void deliver(byte[] bytes, int from, int to, long end) {
        lines.line(bytes, from, to, start, end);
    }

    @Override
    public void close() throws IOException {
        open.close();
    }
}
