package dev.gpuwarden.daemon.command;

import dev.gpuwarden.daemon.kernlog.logfile.LineSplitter;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** A reader of a log that a user names: it unpacks gzip, reads UTF-16 and UTF-32, and refuses other compressed files by their first bytes. */
final class LogInput {

    /** Output of `dmesg --json` in one line has all of the kernel's ring. */
    static final int LONGEST_BYTES = 4 << 20;

    private static final int BUFFER_BYTES = 64 << 10;

    /** The first bytes of a file that is no text, as Latin-1, and the program that makes text of it. */
    private record Packed(String magic, String name, String program) {}

    private static final List<Packed> PACKED = List.of(
            new Packed("(\u00b5/\u00fd", "zstd", "zstd -dc"),
            new Packed("\u00fd7zXZ\0", "xz", "xz -dc"),
            new Packed("BZh", "bzip2", "bzip2 -dc"),
            new Packed("\u0004\"M\u0018", "lz4", "lz4 -dc"),
            new Packed("LZIP", "lzip", "lzip -dc"),
            new Packed("\u001f\u009d", "compress", "gzip -dc"),
            new Packed("PK\u0003\u0004", "zip", "unzip -p"),
            new Packed("LPKSHHRH", "journald", "journalctl -o json --file"));

    /** Byte order marks, as Latin-1, of which the longer ones come first: one of UTF-32 begins with one of UTF-16. */
    private static final Map<String, Charset> MARKS = marks();

    private static final int LONGEST_MAGIC = 8;

    /** A rotated log that was compressed again has two. */
    private static final int MOST_LAYERS = 4;

    private LogInput() {}

    private static Map<String, Charset> marks() {
        Map<String, Charset> marks = new LinkedHashMap<>();
        marks.put("\u00ff\u00fe\0\0", Charset.forName("UTF-32LE"));
        marks.put("\0\0\u00fe\u00ff", Charset.forName("UTF-32BE"));
        marks.put("\u00ff\u00fe", StandardCharsets.UTF_16LE);
        marks.put("\u00fe\u00ff", StandardCharsets.UTF_16BE);
        return marks;
    }

    /** A file in a form that this program does not read. */
    static final class PackedException extends IOException {
        private static final long serialVersionUID = 1L;

        PackedException(String message) {
            super(message);
        }
    }

    /**
     * Reads all lines.
     *
     * @param name the file, for a message; "-" for standard input
     * @param taker accepts a line, and returns whether to go on
     * @return whether a line was longer than {@link #LONGEST_BYTES}, so that its end was not read
     * @throws IOException also after the lines before a break were taken; the line in which the log breaks is not
     */
    static boolean read(InputStream in, String name, Predicate<String> taker) throws IOException {
        Break broken = new Break();
        InputStream plain = utf8(unpacked(new BufferedInputStream(broken.of(in), BUFFER_BYTES), name, broken));
        boolean[] open = {true};
        boolean[] cut = {false};
        LineSplitter.Lines lines = (bytes, from, to, end) -> {
            cut[0] |= to - from == LONGEST_BYTES;
            open[0] = open[0] && taker.test(text(bytes, from, to));
        };
        LineSplitter splitter = new LineSplitter(0, LONGEST_BYTES);
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int size = plain.read(buffer); open[0] && size >= 0; size = plain.read(buffer)) {
            splitter.feed(buffer, size, lines);
        }
        if (broken.cause != null) {
            throw broken.cause;
        }
        splitter.end(lines);
        return cut[0];
    }

    private static String text(byte[] bytes, int from, int to) {
        int end = to > from && bytes[to - 1] == '\r' ? to - 1 : to;
        return new String(bytes, from, end - from, StandardCharsets.UTF_8);
    }

    private static byte[] first(BufferedInputStream in) throws IOException {
        in.mark(LONGEST_MAGIC);
        byte[] first = in.readNBytes(LONGEST_MAGIC);
        in.reset();
        return first;
    }

    private static BufferedInputStream unpacked(BufferedInputStream log, String name, Break broken) throws IOException {
        BufferedInputStream in = log;
        String first = new String(first(in), StandardCharsets.ISO_8859_1);
        for (int layer = 0; first.startsWith("\u001f\u008b"); layer++) {
            if (layer == MOST_LAYERS) {
                throw new PackedException("compressed with gzip more than " + MOST_LAYERS + " times");
            }
            in = new BufferedInputStream(broken.of(new GZIPInputStream(in, BUFFER_BYTES)), BUFFER_BYTES);
            first = new String(first(in), StandardCharsets.ISO_8859_1);
        }
        for (Packed packed : PACKED) {
            // Text may begin with the letters of bzip2; its block has a size from 1 to 9 and the digits of pi.
            if (first.startsWith(packed.magic()) && (!packed.name().equals("bzip2") || first.startsWith("1AY", 4))) {
                String how = packed.name().equals("journald")
                        ? "a file of journald: print it first: "
                        : "compressed with " + packed.name() + ": decompress it first: ";
                throw new PackedException(
                        how + packed.program() + (name.equals("-") ? "" : " " + name) + " | gpuwarden xid decode -");
            }
        }
        return in;
    }

    /** Returns the text in UTF-8. PowerShell writes UTF-16 with a byte order mark, and can write UTF-32. */
    private static InputStream utf8(BufferedInputStream in) throws IOException {
        byte[] first = Arrays.copyOf(first(in), 4);
        Optional<Charset> charset = MARKS.entrySet().stream()
                .filter(mark -> new String(first, StandardCharsets.ISO_8859_1).startsWith(mark.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .or(() -> zeros(first, 1) ? Optional.of(StandardCharsets.UTF_16LE) : Optional.empty())
                .or(() -> zeros(first, 0) ? Optional.of(StandardCharsets.UTF_16BE) : Optional.empty());
        return charset.isPresent() ? new Transcoded(in, charset.get()) : in;
    }

    /** Returns whether ASCII in two bytes begins here: each second byte is zero. */
    private static boolean zeros(byte[] first, int zero) {
        return first[zero] == 0 && first[zero + 2] == 0 && first[1 - zero] > 0 && first[3 - zero] > 0;
    }

    /** The error at which a log breaks. It is an end to buffers, which would lose with it what they have read before. */
    private static final class Break {

        private @Nullable IOException cause;

        InputStream of(InputStream log) {
            return new FilterInputStream(log) {
                @Override
                public int read() throws IOException {
                    byte[] one = new byte[1];
                    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
                }

                @Override
                public int read(byte[] to, int from, int length) {
                    try {
                        return super.read(to, from, length);
                    } catch (IOException e) {
                        cause = cause == null ? e : cause;
                        return -1;
                    }
                }
            };
        }
    }

    /** Text of another character set, as UTF-8. */
    private static final class Transcoded extends InputStream {

        private final Reader reader;
        private final char[] chars = new char[BUFFER_BYTES];
        private byte[] bytes = {};
        private int at;

        Transcoded(InputStream in, Charset charset) {
            reader = new InputStreamReader(in, charset);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int from, int length) throws IOException {
            if (at == bytes.length) {
                int size = reader.read(chars, 0, chars.length - 1);
                if (size < 0) {
                    return -1;
                }
                // A character of two halves must not be cut.
                if (size > 0 && Character.isHighSurrogate(chars[size - 1])) {
                    int low = reader.read();
                    if (low >= 0) {
                        chars[size++] = (char) low;
                    }
                }
                bytes = new String(chars, 0, size).getBytes(StandardCharsets.UTF_8);
                at = 0;
            }
            int size = Math.min(length, bytes.length - at);
            System.arraycopy(bytes, at, to, from, size);
            at += size;
            return size;
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
