package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.file.AtomicFile;
import dev.gpuwarden.cli.file.LineLog;
import dev.gpuwarden.cli.file.RotatingLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
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

    private final Path file;
    private final LineLog lines;
    private final long mostBytes;
    private final Map<String, byte[]> lastByGpu = new LinkedHashMap<>();
    private @Nullable FileChannel lock;

    DecisionFile(Path file, long mostBytes) {
        this.file = file;
        this.lines = new LineLog(file);
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
                lastByGpu.values().stream().mapToLong(last -> last.length).sum();
        long size = lines.size();
        if (size + line.length > mostBytes && size > carried) {
            rotate();
        }
        lines.append(line);
    }

    /** Begins a new file, which is complete or not there: a restart needs all that is carried. Without room the full one stays. */
    private void rotate() throws IOException {
        ByteArrayOutputStream carried = new ByteArrayOutputStream();
        lastByGpu.values().forEach(carried::writeBytes);
        Path older = RotatingLog.older(file, 1);
        Files.move(file, older, StandardCopyOption.REPLACE_EXISTING);
        try {
            AtomicFile.replace(file, carried.toByteArray());
        } catch (IOException e) {
            Files.move(older, file);
            throw e;
        }
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
