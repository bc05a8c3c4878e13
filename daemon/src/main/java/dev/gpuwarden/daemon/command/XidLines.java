package dev.gpuwarden.daemon.command;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Predicate;
import java.util.zip.GZIPInputStream;

/**
 * A reader of the lines of a log with any content: unpacked, without line break, truncated beyond the length that
 * parsers need.
 */
final class XidLines {

    /** A record of journald in JSON with all of its fields has a few KiB. */
    static final int LONGEST_BYTES = 64 << 10;

    private static final int BUFFER_BYTES = 64 << 10;

    private XidLines() {}

    /** @param taker accepts a line, and returns whether to go on */
    static void read(InputStream in, Predicate<String> taker) throws IOException {
        InputStream plain = unpacked(new BufferedInputStream(in, BUFFER_BYTES));
        byte[] buffer = new byte[BUFFER_BYTES];
        byte[] line = new byte[1024];
        int length = 0;
        boolean open = false;
        for (int size = plain.read(buffer); size >= 0; size = plain.read(buffer)) {
            int from = 0;
            for (int i = 0; i < size; i++) {
                if (buffer[i] == '\n') {
                    if (length == 0) {
                        open = taker.test(text(buffer, from, Math.min(i, from + LONGEST_BYTES)));
                    } else {
                        line = with(line, length, buffer, from, i);
                        open = taker.test(text(line, 0, Math.min(LONGEST_BYTES, length + i - from)));
                    }
                    if (!open) {
                        return;
                    }
                    length = 0;
                    from = i + 1;
                }
            }
            line = with(line, length, buffer, from, size);
            length = Math.min(LONGEST_BYTES, length + size - from);
        }
        if (length > 0) {
            taker.test(text(line, 0, length));
        }
    }

    /** Returns the line with more at its end, as far as it is kept. */
    private static byte[] with(byte[] line, int length, byte[] more, int from, int to) {
        int count = Math.min(to - from, LONGEST_BYTES - length);
        byte[] longer =
                length + count <= line.length ? line : Arrays.copyOf(line, Math.max(length + count, 2 * line.length));
        System.arraycopy(more, from, longer, length, count);
        return longer;
    }

    private static String text(byte[] bytes, int from, int to) {
        int end = to > from && bytes[to - 1] == '\r' ? to - 1 : to;
        return new String(bytes, from, end - from, StandardCharsets.UTF_8);
    }

    private static InputStream unpacked(BufferedInputStream in) throws IOException {
        in.mark(2);
        boolean gzip = in.read() == 0x1f && in.read() == 0x8b;
        in.reset();
        return gzip ? new GZIPInputStream(in, BUFFER_BYTES) : in;
    }
}
