package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.aggregator.part.AuditLog.AuditTarget;
import dev.gpuwarden.cli.file.AtomicFile;
import dev.gpuwarden.cli.file.LineLog;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A file of audit records, each on the disk before it counts as written. A file that is full becomes `FILE.1`, and what was
 * `FILE.1` becomes `FILE.2`, up to {@value #OLDER}: the oldest goes.
 */
final class AuditFile implements AuditTarget {

    static final long MOST_BYTES = 64L << 20;

    static final int OLDER = 8;

    private final Path file;
    private final LineLog log;
    private final long mostBytes;

    private AuditFile(Path file, long mostBytes) {
        this.file = file;
        this.log = new LineLog(file);
        this.mostBytes = mostBytes;
    }

    /** @throws IOException if the file cannot be written */
    static AuditFile open(Path file, long mostBytes) throws IOException {
        boolean isNew = Files.notExists(file);
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)
                .close();
        if (isNew) {
            // The first record finds a file, and waits for its content alone.
            AtomicFile.syncFolder(file);
        }
        return new AuditFile(file, mostBytes);
    }

    @Override
    public void write(byte[] record) throws IOException {
        long size = log.size();
        if (size > 0 && size + record.length > mostBytes) {
            rotate();
        }
        log.append(record);
    }

    private void rotate() throws IOException {
        int free = 1;
        // A rotation that failed has left a gap. It is filled first, so that each failure costs no older file.
        while (free < OLDER && Files.exists(older(free))) {
            free++;
        }
        for (int i = free; i > 0; i--) {
            Files.move(i == 1 ? file : older(i - 1), older(i), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private Path older(int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    @Override
    public void close() {
        // Each record has opened and closed the file.
    }
}
