package dev.gpuwarden.cli.file;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * An append-only file of lines with one writer, which ends in a whole line. A disk without room, a kill or a loss of power can cut a
 * line: it is removed, immediately or before the next line. If the file cannot be made shorter, the next line begins after a line
 * break, so that the reader loses the cut line alone. Not thread-safe; calls block on the disk.
 */
public final class LineLog {

    private static final System.Logger LOG = System.getLogger(LineLog.class.getName());
    private static final int BLOCK = 1 << 16;
    private static final byte[] NOTHING = {};
    private static final byte[] LINE_BREAK = {'\n'};

    private final Path file;
    private final FolderSync folder;
    /** True while the file is new, and the disk may lack its name. */
    private boolean isNew;

    /** @param file is created with the first line; another program may move it away at any time */
    public LineLog(Path file) {
        this(file, AtomicFile::syncFolder);
    }

    LineLog(Path file, FolderSync folder) {
        this.file = file;
        this.folder = folder;
    }

    /** Makes the name of a new file durable. */
    interface FolderSync {
        void of(Path file) throws IOException;
    }

    /**
     * Appends whole lines, and waits until the disk has them.
     *
     * @param lines with a line break at the end
     * @throws IOException if the disk does not take them; then the file has none of them, or a cut one that the next call removes
     */
    public void append(byte[] lines) throws IOException {
        isNew |= Files.notExists(file);
        // Only with APPEND can a file be written that the file system protects against all else (chattr +a).
        try (FileChannel out = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            long size = out.size();
            long end = endOfLines(file, size);
            boolean cut = end < size && !truncate(out, end);
            try {
                write(out, cut ? LINE_BREAK : NOTHING);
                write(out, lines);
                out.force(false);
                if (isNew) {
                    folder.of(file);
                    isNew = false;
                }
            } catch (IOException e) {
                truncate(out, end);
                throw e;
            }
        }
    }

    /** Removes a cut line at the end. Returns true if the file ends in a whole line now. */
    public boolean cut() throws IOException {
        if (Files.notExists(file)) {
            return true;
        }
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            long size = out.size();
            long end = endOfLines(file, size);
            return end == size || truncate(out, end);
        }
    }

    /** Returns the size in bytes; 0 if there is no file. */
    public long size() throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /** Returns the part of the text that ends with its last line break: more was cut off. */
    public static String wholeLines(String text) {
        return text.substring(0, text.lastIndexOf('\n') + 1);
    }

    static void write(FileChannel out, byte[] bytes) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining()) {
            out.write(rest);
        }
    }

    private boolean truncate(FileChannel out, long end) {
        try {
            out.truncate(end);
            return true;
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "a cut line of " + file + " cannot be removed: {0}", e);
            return false;
        }
    }

    /** Returns the position behind the last line break; 0 if there is none. */
    private static long endOfLines(Path file, long size) throws IOException {
        if (size == 0) {
            return 0;
        }
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer block = ByteBuffer.allocate(BLOCK);
            // The last byte alone, since it is nearly always a line break.
            for (long end = size, from = size - 1; end > 0; end = from, from = Math.max(0, end - BLOCK)) {
                block.clear().limit((int) (end - from));
                while (block.hasRemaining()) {
                    if (in.read(block, from + block.position()) < 0) {
                        throw new IOException("the file became shorter while it was read");
                    }
                }
                for (int i = block.position() - 1; i >= 0; i--) {
                    if (block.get(i) == '\n') {
                        return from + i + 1;
                    }
                }
            }
            return 0;
        }
    }
}
