package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.LinePrefix;
import dev.gpuwarden.daemon.kernlog.logfile.FilePosition;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The search for the beginning of this boot in a log file: the newest line with which every kernel starts. */
final class BootStart {

    private static final int BLOCK = 1 << 20;

    /** The part of the file that is searched, from its end, in bytes: a minute of reading. */
    private static final long FARTHEST = 256L << 20;

    /** The longest prefix of a line, in bytes, and so the longest search for the line's beginning. */
    private static final int LONGEST_PREFIX = 512;

    private BootStart() {}

    /** Returns the offset of that line, in bytes; empty where the file has none that the kernel can have written. */
    static Optional<Long> find(Path file) throws IOException {
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = open.size();
            long to = size;
            while (to > 0 && size - to < FARTHEST) {
                long from = Math.max(0, to - BLOCK);
                // Overlap, so that a line on the border is whole in one of the two.
                int length = (int) (Math.min(size, to + LONGEST_PREFIX + Boot.FIRST_WORDS.length()) - from);
                byte[] block = FilePosition.read(open, from, length);
                Optional<Long> found = last(block, from == 0).map(at -> from + at);
                if (found.isPresent()) {
                    return found;
                }
                to = from;
            }
        }
        return Optional.empty();
    }

    private static Optional<Long> last(byte[] block, boolean whole) {
        String text = new String(block, StandardCharsets.ISO_8859_1);
        int at = text.lastIndexOf(Boot.FIRST_WORDS);
        while (at >= 0) {
            int line = text.lastIndexOf('\n', at) + 1;
            // A line that the block cuts in two is whole in the block before.
            boolean cut = line == 0 && !whole;
            if (!cut && at - line <= LONGEST_PREFIX && byKernel(block, line, at + Boot.FIRST_WORDS.length())) {
                return Optional.of((long) line);
            }
            at = at == 0 ? -1 : text.lastIndexOf(Boot.FIRST_WORDS, at - 1);
        }
        return Optional.empty();
    }

    private static boolean byKernel(byte[] block, int from, int to) {
        return KmsgSource.parse(
                        block,
                        from,
                        to,
                        (writer, sequence, micros, text) ->
                                writer == Writer.KERNEL && text.startsWith(Boot.FIRST_WORDS))
                .orElseGet(() -> {
                    LinePrefix line = LinePrefix.of(new String(block, from, to - from, StandardCharsets.ISO_8859_1));
                    return line.isKernels() && line.text().startsWith(Boot.FIRST_WORDS.trim());
                });
    }
}
