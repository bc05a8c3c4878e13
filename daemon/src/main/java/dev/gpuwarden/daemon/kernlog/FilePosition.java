package dev.gpuwarden.daemon.kernlog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * How far a file was read, and what file that was: its number finds it after it was renamed, its first bytes after it was copied,
 * and tell that it was not replaced by another one of the same number.
 *
 * @param headBytes how many of the first bytes {@code headSum} is about; few while the file is young
 */
record FilePosition(long inode, long offset, int headBytes, int headSum) {

    static final int MOST_HEAD_BYTES = 256;

    static FilePosition of(long inode, long offset, byte[] head) {
        return new FilePosition(inode, offset, head.length, sum(head));
    }

    FilePosition at(long newOffset) {
        return new FilePosition(inode, newOffset, headBytes, headSum);
    }

    /** Whether this file begins with what was read, and is at least as long. */
    boolean fits(Path file) {
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.READ)) {
            byte[] head = head(open, headBytes);
            return open.size() >= offset && head.length == headBytes && sum(head) == headSum;
        } catch (IOException e) {
            return false;
        }
    }

    static long inode(Path file) throws IOException {
        return ((Number) Files.getAttribute(file, "unix:ino")).longValue();
    }

    /** So many of the first bytes, or fewer where the file is shorter. */
    static byte[] head(FileChannel open, int length) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(length);
        while (head.hasRemaining() && open.read(head, head.position()) >= 0) {
            // Until full, or at the end.
        }
        return Arrays.copyOf(head.array(), head.position());
    }

    private static int sum(byte[] head) {
        CRC32 crc = new CRC32();
        crc.update(head);
        return (int) crc.getValue();
    }

    String text() {
        return inode + ":" + offset + ":" + headBytes + ":" + Integer.toHexString(headSum);
    }

    /** The number of the record, which stands behind the mark in a cursor; -1 where there is none. */
    static long sequence(String cursor) {
        String[] parts = cursor.split(":", -1);
        try {
            return parts.length > 4 ? Long.parseLong(parts[4]) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Empty for what {@link #text()} did not make. */
    static Optional<FilePosition> parse(String text) {
        String[] parts = text.split(":", -1);
        try {
            FilePosition mark = new FilePosition(
                    Long.parseLong(parts[0]),
                    Long.parseLong(parts[1]),
                    Integer.parseInt(parts[2]),
                    Integer.parseUnsignedInt(parts[3], 16));
            boolean possible = mark.offset >= 0 && mark.headBytes >= 0 && mark.headBytes <= MOST_HEAD_BYTES;
            return possible ? Optional.of(mark) : Optional.empty();
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }
}
