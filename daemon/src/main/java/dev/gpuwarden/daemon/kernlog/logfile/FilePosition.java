package dev.gpuwarden.daemon.kernlog.logfile;

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
 * A position in a file that survives rotation. The inode identifies the file after it was renamed. The checksum of its first bytes
 * identifies it after it was copied, and detects another file with the same inode.
 *
 * @param offset the number of bytes that were read
 * @param headBytes the number of first bytes in {@code headSum}; few while the file is young
 * @param headSum the CRC-32 of these bytes
 */
public record FilePosition(long inode, long offset, int headBytes, int headSum) {

    static final int MOST_HEAD_BYTES = 256;

    static FilePosition of(long inode, long offset, byte[] head) {
        return new FilePosition(inode, offset, head.length, sum(head));
    }

    public FilePosition at(long newOffset) {
        return new FilePosition(inode, newOffset, headBytes, headSum);
    }

    /** Returns whether this file begins with the same bytes, and is at least as long as the offset. */
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

    static byte[] head(FileChannel open, int length) throws IOException {
        return read(open, 0, length);
    }

    /** Returns the bytes from this offset on, or fewer where the file is shorter. */
    public static byte[] read(FileChannel open, long from, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining() && open.read(bytes, from + bytes.position()) >= 0) {
            // Until full, or at the end.
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private static int sum(byte[] head) {
        CRC32 crc = new CRC32();
        crc.update(head);
        return (int) crc.getValue();
    }

    /** Returns the text for {@link #parse}. */
    public String text() {
        return inode + ":" + offset + ":" + headBytes + ":" + Integer.toHexString(headSum);
    }

    /** Reads {@link #text()}, with or without more fields behind it; empty for other text. */
    public static Optional<FilePosition> parse(String text) {
        String[] parts = text.split(":", -1);
        try {
            FilePosition position = new FilePosition(
                    Long.parseLong(parts[0]),
                    Long.parseLong(parts[1]),
                    Integer.parseInt(parts[2]),
                    Integer.parseUnsignedInt(parts[3], 16));
            boolean possible = position.offset >= 0 && position.headBytes >= 0 && position.headBytes <= MOST_HEAD_BYTES;
            return possible ? Optional.of(position) : Optional.empty();
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }
}
