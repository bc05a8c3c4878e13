package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.daemon.vram.trace.Records;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file of whole lines with one writer. A full file becomes the older one, and the new one begins with the last
 * decision of each GPU: their state has all recycles that a restart must remember. Not thread-safe.
 */
final class DecisionFile implements AutoCloseable {

    private static final int BLOCK = 1 << 16;

    private final Path file;
    private final long mostBytes;
    private final Map<String, byte[]> lastByGpu = new LinkedHashMap<>();
    private @Nullable FileChannel lock;

    DecisionFile(Path file, long mostBytes) {
        this.file = file;
        this.mostBytes = mostBytes;
    }

    /** Appends the line of a decision about this GPU, and waits until the disk has it. */
    void write(byte[] line, String gpu) throws IOException {
        write(line);
        lastByGpu.put(gpu, line);
    }

    /** Appends a line, and waits until the disk has it. */
    void write(byte[] line) throws IOException {
        lock();
        long carried =
                lastByGpu.values().stream().mapToLong(each -> each.length).sum();
        long size = Files.exists(file) ? Files.size(file) : 0;
        if (size + line.length > mostBytes && size > carried) {
            Files.move(file, Records.older(file), StandardCopyOption.REPLACE_EXISTING);
            for (byte[] each : lastByGpu.values()) {
                append(each);
            }
        }
        append(line);
    }

    private void append(byte[] line) throws IOException {
        try (FileChannel out =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            out.position(endOfLines(out));
            ByteBuffer rest = ByteBuffer.wrap(line);
            while (rest.hasRemaining()) {
                out.write(rest);
            }
            out.truncate(out.position());
            out.force(false);
        }
    }

    /** Returns the end of the last whole line; more than that was cut off by the end of a writer. */
    private static long endOfLines(FileChannel in) throws IOException {
        ByteBuffer block = ByteBuffer.allocate(BLOCK);
        for (long end = in.size(); end > 0; ) {
            long from = Math.max(0, end - BLOCK);
            block.clear().limit((int) (end - from));
            for (long at = from; block.hasRemaining(); at = from + block.position()) {
                if (in.read(block, at) < 0) {
                    throw new IOException("the file became shorter while it was read");
                }
            }
            for (int i = block.position() - 1; i >= 0; i--) {
                if (block.get(i) == '\n') {
                    return from + i + 1;
                }
            }
            end = from;
        }
        return 0;
    }

    private void lock() throws IOException {
        if (lock != null) {
            return;
        }
        Path path = file.resolveSibling(file.getFileName() + ".lock");
        FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                lock = channel;
                return;
            }
        } catch (OverlappingFileLockException e) {
            // Another log of this program has it.
        } finally {
            if (lock == null) {
                channel.close();
            }
        }
        throw new IOException(file + " has another writer");
    }

    @Override
    public void close() {
        try {
            if (lock != null) {
                lock.close();
            }
        } catch (IOException e) {
            // The end of the program releases it.
        }
    }
}
