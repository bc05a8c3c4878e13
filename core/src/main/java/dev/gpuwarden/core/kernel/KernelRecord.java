package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.util.Text;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * One record of a kernel log, from any source.
 *
 * @param time the time of writing, in this node's wall clock; {@code Instant.EPOCH} where the source has none
 * @param writer the origin; text from user space can look like any message
 * @param text the message without the source's time and prefix, as {@link #clean(String)} returns it
 * @param proven whether the source guarantees the writer. In most files the writer is what the line claims
 */
public record KernelRecord(Instant time, Writer writer, String text, boolean proven) {

    /** Makes a record of a source that guarantees the writer where it reports one. */
    public KernelRecord(Instant time, Writer writer, String text) {
        this(time, writer, text, writer != Writer.UNTOLD);
    }

    /** The longest text, in characters. The kernel's records end at about 1 KiB (CONSOLE_EXT_LOG_MAX is 8192 with escapes). */
    public static final int LONGEST = 8192;

    /** The longest prefix of a line, in characters: host names have at most 64, stamps about 40. */
    static final int LONGEST_PREFIX = 200;

    /** The origin of a record. */
    public enum Writer {
        KERNEL,
        /** A process with the right to write to the kernel log, or as root to the system's log. */
        PRIVILEGED,
        /** Any process. */
        USER,
        /** The source does not report the writer, for example a plain file. */
        UNTOLD
    }

    /**
     * Returns the end of the prefix of /dev/kmsg, `4,1234,5678,-,caller=T1;`: facility and level, number, microseconds, flags; 0 where
     * the line has no such prefix.
     */
    static int kmsgEnd(String line) {
        // No cursor: every line that begins with a digit comes here, and must allocate nothing.
        int at = 0;
        for (int field = 0; field < 3; field++) {
            int start = at;
            while (at < line.length() && Cursor.isDigit(line.charAt(at))) {
                at++;
            }
            if (at == start || at == line.length() || line.charAt(at++) != ',') {
                return 0;
            }
        }
        int semicolon = line.indexOf(';', at);
        return semicolon < 0 || semicolon > LONGEST_PREFIX ? 0 : semicolon + 1;
    }

    /** Returns the UTF-8 bytes as text that is safe to show and to store, see {@link #clean(String)}. */
    public static String clean(byte[] bytes, int from, int to) {
        // A character has at most 4 bytes.
        int end = Math.min(to, from + 4 * LONGEST);
        for (int i = from; i < end; i++) {
            if (bytes[i] < 0x20 || bytes[i] == 0x7f) {
                return clean(new String(bytes, from, end - from, StandardCharsets.UTF_8));
            }
        }
        return cut(new String(bytes, from, end - from, StandardCharsets.ISO_8859_1));
    }

    /**
     * Returns the text cut at {@link #LONGEST} characters. Bad UTF-8 and control characters become visible replacements; line
     * breaks and tabs become spaces.
     */
    public static String clean(String text) {
        String cut = cut(text);
        StringBuilder clean = new StringBuilder(cut.length());
        for (int i = 0; i < cut.length(); i++) {
            char c = cut.charAt(i);
            if (c == '\n' || c == '\t' || c == '\r') {
                clean.append(' ');
            } else if (Character.isISOControl(c) || Character.getType(c) == Character.FORMAT || loneSurrogate(cut, i)) {
                clean.append('\ufffd');
            } else {
                clean.append(c);
            }
        }
        return clean.toString();
    }

    private static boolean loneSurrogate(String text, int i) {
        char c = text.charAt(i);
        if (Character.isHighSurrogate(c)) {
            return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
        }
        return Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
    }

    private static String cut(String text) {
        return Text.head(text, LONGEST);
    }
}
