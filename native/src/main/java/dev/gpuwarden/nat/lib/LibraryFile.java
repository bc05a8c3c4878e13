package dev.gpuwarden.nat.lib;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Files that the loader must not open. It waits for the writer of a named pipe, and the process ends with SIGBUS if a library is shorter
 * than its own table of segments requires. The loader reports all other mistakes itself.
 */
final class LibraryFile {

    // elf.h, Elf64_Ehdr and Elf64_Phdr.
    private static final int HEADER_BYTES = 64;
    private static final int MAGIC = 0x464c457f;
    private static final int CLASS_AT = 4;
    private static final int CLASS_64 = 2;
    private static final int SEGMENTS_AT = 32;
    private static final int SEGMENT_SIZE_AT = 54;
    private static final int SEGMENT_COUNT_AT = 56;
    private static final int SEGMENT_BYTES = 56;
    private static final int LOADED = 1;
    private static final int OFFSET_AT = 8;
    private static final int FILE_BYTES_AT = 32;

    private LibraryFile() {}

    /** Returns why a file that exists must not be loaded; empty if the loader may try. */
    static Optional<String> refusal(Path file) {
        if (Files.isDirectory(file)) {
            return Optional.of(file + " is a folder, not a library");
        }
        if (!Files.isRegularFile(file)) {
            return Optional.of(file + " is no regular file");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return end(channel) > channel.size()
                    ? Optional.of(file + " is cut off: it has " + channel.size() + " of at least " + end(channel)
                            + " bytes; copy it again")
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.of(file + " cannot be read: " + e);
        }
    }

    /** Returns the bytes that the segments need; 0 if this is no ELF file of 64 bits. */
    private static long end(FileChannel channel) throws IOException {
        ByteBuffer header = read(channel, 0, HEADER_BYTES);
        if (header.limit() < HEADER_BYTES || header.getInt(0) != MAGIC || header.get(CLASS_AT) != CLASS_64) {
            return 0;
        }
        long end = 0;
        long table = header.getLong(SEGMENTS_AT);
        int size = Short.toUnsignedInt(header.getShort(SEGMENT_SIZE_AT));
        int count = Short.toUnsignedInt(header.getShort(SEGMENT_COUNT_AT));
        for (int i = 0; i < count && size >= SEGMENT_BYTES; i++) {
            long at = table + (long) i * size;
            ByteBuffer segment = at < 0 ? ByteBuffer.allocate(0) : read(channel, at, SEGMENT_BYTES);
            if (segment.limit() < SEGMENT_BYTES) {
                return Long.MAX_VALUE;
            }
            if (segment.getInt(0) == LOADED) {
                long last = segment.getLong(OFFSET_AT) + segment.getLong(FILE_BYTES_AT);
                end = last < 0 ? Long.MAX_VALUE : Math.max(end, last);
            }
        }
        return end;
    }

    private static ByteBuffer read(FileChannel channel, long at, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining() && channel.read(buffer, at + buffer.position()) >= 0) {}
        return buffer.flip();
    }
}
