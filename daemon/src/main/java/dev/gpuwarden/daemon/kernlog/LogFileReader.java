package dev.gpuwarden.daemon.kernlog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** One file that is open, read line by line. Stays with that file whatever becomes of its name. */
final class LogFileReader implements AutoCloseable {

    private static final int BUFFER_BYTES = 64 * 1024;

    /** A name that changes hands faster than it can be opened is not a log's. */
    private static final int ATTEMPTS = 10;

    private final FileChannel open;
    private final Path log;
    private final LineParser records;
    private final LogSource.Sink sink;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private final LineSplitter lines;
    private final Predicate<LogFileReader> next;
    private byte[] head;
    private FilePosition mark;

    private LogFileReader(
            FileChannel open,
            long inode,
            long offset,
            byte[] head,
            Path log,
            LineParser records,
            LogSource.Sink sink,
            Predicate<LogFileReader> next) {
        this.open = open;
        this.head = head;
        this.mark = FilePosition.of(inode, offset, head);
        this.log = log;
        this.records = records;
        this.sink = sink;
        this.next = next;
        this.lines = new LineSplitter(mark.offset());
        records.elsewhere();
    }

    /**
     * @param log the name under which marks of this file are kept
     * @param next whether this file is the next one still; asked when something of it was read and nothing told
     */
    static LogFileReader open(
            Path file, long offset, Path log, LineParser records, LogSource.Sink sink, Predicate<LogFileReader> next)
            throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            long before = FilePosition.inode(file);
            FileChannel open = FileChannel.open(file, StandardOpenOption.READ);
            try {
                if (FilePosition.inode(file) == before) {
                    byte[] head = FilePosition.head(open, (int) Math.min(offset, FilePosition.MOST_HEAD_BYTES));
                    return new LogFileReader(open, before, offset, head, log, records, sink, next);
                }
            } catch (IOException e) {
                open.close();
                throw e;
            }
            open.close();
        }
        throw new IOException(file + " is replaced again and again");
    }

    /** Behind the last whole line. */
    FilePosition mark() {
        return mark.at(lines.ended());
    }

    private boolean intact() throws IOException {
        return open.size() >= lines.consumed() && java.util.Arrays.equals(FilePosition.head(open, head.length), head);
    }

    /** Whether this name leads to it. */
    boolean isAt(Path name) {
        try {
            return FilePosition.inode(name) == mark.inode();
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Reads what is there.
     *
     * @return false where the file does not hold any more what was read of it, or is not the next one, or when told to stop
     */
    boolean drain(BooleanSupplier stop) throws IOException {
        while (!stop.getAsBoolean()) {
            buffer.clear();
            int size = open.read(buffer, lines.consumed());
            // Looked at behind the read: a file that was cut and written anew before it gave something else than its
            // rest.
            if (!intact()) {
                return false;
            }
            if (size <= 0) {
                return true;
            }
            if (lines.consumed() == 0 && !next.test(this)) {
                return false;
            }
            growHead(size);
            lines.feed(buffer.array(), size, this::tell);
        }
        return false;
    }

    private void growHead(int size) {
        int more = Math.min(size, FilePosition.MOST_HEAD_BYTES - head.length);
        if (more > 0) {
            int had = head.length;
            head = java.util.Arrays.copyOf(head, had + more);
            System.arraycopy(buffer.array(), 0, head, had, more);
            mark = FilePosition.of(mark.inode(), mark.offset(), head);
        }
    }

    /** Nobody will complete the last line. */
    void end() {
        lines.end(this::tell);
    }

    private void tell(byte[] bytes, int from, int to, long end) {
        FilePosition known = mark;
        records.tell(bytes, from, to, sequence -> () -> FileSource.cursor(known.at(end), sequence, log), sink);
    }

    @Override
    public void close() throws IOException {
        open.close();
    }
}
