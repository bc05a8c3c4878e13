package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.AuditLog.AuditTarget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A file of audit records, each on the disk before it counts as written. A file that is full becomes `FILE.1`, and what was
 * `FILE.1` becomes `FILE.2`, up to {@value #OLDER}: the oldest goes.
 */
final class AuditFile implements AuditTarget {

    static final long MOST_BYTES = 64L << 20;

    static final int OLDER = 8;

    private final Path file;
    private final long mostBytes;
    private FileChannel channel;
    /** Identifies the file that the channel writes to, also after another program has renamed it. */
    private Object key;

    private AuditFile(Path file, long mostBytes) throws IOException {
        this.file = file;
        this.mostBytes = mostBytes;
        channel = channel(file);
        key = key(file);
    }

    static AuditFile open(Path file, long mostBytes) throws IOException {
        return new AuditFile(file, mostBytes);
    }

    private static FileChannel channel(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    private static Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    private void reopen() throws IOException {
        channel.close();
        channel = channel(file);
        key = key(file);
    }

    @Override
    public void write(byte[] record) throws IOException {
        if (!channel.isOpen() || Files.notExists(file) || !key(file).equals(key)) {
            // Another program has moved it away, or the last rotation failed.
            reopen();
        } else if (channel.size() > 0 && channel.size() + record.length > mostBytes) {
            rotate();
        }
        long before = channel.size();
        try {
            ByteBuffer bytes = ByteBuffer.wrap(record);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(false);
        } catch (IOException e) {
            // Half a record would spoil the next one's line.
            cutTo(before, e);
            throw e;
        }
    }

    private void cutTo(long size, IOException cause) {
        try {
            channel.truncate(size);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private void rotate() throws IOException {
        channel.close();
        for (int i = OLDER - 1; i >= 0; i--) {
            Path from = i == 0 ? file : older(i);
            if (Files.exists(from)) {
                Files.move(from, older(i + 1), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        reopen();
    }

    private Path older(int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
