package dev.gpuwarden.daemon.kernlog.logfile;

/** A splitter of bytes into lines. It skips the part of a line beyond the longest one. Not thread-safe. */
public final class LineSplitter {

    /** The longest line, in bytes: four times a record of the kernel, for prefixes and escapes. */
    static final int LONGEST = 32 * 1024;

    private final int longest;
    private byte[] line = new byte[1024];
    private int length;
    private long consumed;
    private long ended;

    /** A receiver of lines. */
    public interface Lines {
        /** @param end the offset behind the line and its line break, in bytes of the input */
        void line(byte[] bytes, int from, int to, long end);
    }

    /** @param offset the offset of the first byte in the input */
    public LineSplitter(long offset) {
        this(offset, LONGEST);
    }

    /**
     * @param offset the offset of the first byte in the input
     * @param longest the longest line, in bytes
     */
    public LineSplitter(long offset, int longest) {
        this.longest = longest;
        consumed = offset;
        ended = offset;
    }

    public void feed(byte[] bytes, int size, Lines lines) {
        int from = 0;
        for (int i = 0; i < size; i++) {
            if (bytes[i] == '\n') {
                ended = consumed + i + 1;
                if (length == 0) {
                    lines.line(bytes, from, i, ended);
                } else {
                    keep(bytes, from, i);
                    int whole = length;
                    length = 0;
                    lines.line(line, 0, whole, ended);
                }
                from = i + 1;
            }
        }
        keep(bytes, from, size);
        consumed += size;
    }

    /** Treats the bytes behind the last line break as a line. */
    public void end(Lines lines) {
        if (length > 0) {
            int whole = length;
            length = 0;
            ended = consumed;
            lines.line(line, 0, whole, consumed);
        }
    }

    /** Returns the offset behind the last whole line. */
    long ended() {
        return ended;
    }

    /** Returns the offset behind the last byte. */
    long consumed() {
        return consumed;
    }

    private void keep(byte[] bytes, int from, int to) {
        int more = Math.min(to - from, longest - length);
        if (more <= 0) {
            return;
        }
        if (length + more > line.length) {
            line = java.util.Arrays.copyOf(line, Math.min(longest, Math.max(length + more, 2 * line.length)));
        }
        System.arraycopy(bytes, from, line, length, more);
        length += more;
    }
}
