package dev.gpuwarden.daemon.kernlog;

/** Cuts bytes into lines. What is beyond the longest line that anybody writes is skipped, not kept. */
final class LineSplitter {

    /** Four times what a record of the kernel can have, for prefixes and escapes. */
    static final int LONGEST = 32 * 1024;

    private byte[] line = new byte[1024];
    private int length;
    private long consumed;
    private long ended;

    /** Takes a line. */
    interface Lines {
        /** @param end where the line ends, its line break included, counted from where the splitter began */
        void line(byte[] bytes, int from, int to, long end);
    }

    LineSplitter(long offset) {
        consumed = offset;
        ended = offset;
    }

    void feed(byte[] bytes, int size, Lines lines) {
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

    /** What stands behind the last line break is a line after all: nobody will end it. */
    void end(Lines lines) {
        if (length > 0) {
            int whole = length;
            length = 0;
            ended = consumed;
            lines.line(line, 0, whole, consumed);
        }
    }

    /** Behind the last whole line. */
    long ended() {
        return ended;
    }

    /** Behind the last byte. */
    long consumed() {
        return consumed;
    }

    private void keep(byte[] bytes, int from, int to) {
        int more = Math.min(to - from, LONGEST - length);
        if (more <= 0) {
            return;
        }
        if (length + more > line.length) {
            line = java.util.Arrays.copyOf(line, Math.min(LONGEST, Math.max(length + more, 2 * line.length)));
        }
        System.arraycopy(bytes, from, line, length, more);
        length += more;
    }
}
