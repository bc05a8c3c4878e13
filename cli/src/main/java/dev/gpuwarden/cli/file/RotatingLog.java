package dev.gpuwarden.cli.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A {@link LineLog} with a limit on its size. A file that would exceed it becomes `FILE.1`, what was `FILE.1` becomes `FILE.2`, and
 * so on: the oldest goes. Not thread-safe; calls block on the disk.
 */
public final class RotatingLog {

    private final Path file;
    private final LineLog log;
    private final long mostBytes;
    private final int older;

    /**
     * @param file is created with the first line; another program may move it away at any time
     * @param older number of older files; at least 1
     */
    public RotatingLog(Path file, long mostBytes, int older) {
        this.file = file;
        this.log = new LineLog(file);
        this.mostBytes = mostBytes;
        this.older = older;
    }

    /** Creates the file if it is missing. @throws IOException if it cannot be written */
    public void create() throws IOException {
        log.append(new byte[0]);
    }

    /** Appends whole lines, which stay together in one file. See {@link LineLog#append(byte[])}. */
    public void append(byte[] lines) throws IOException {
        long size = log.size();
        if (size > 0 && size + lines.length > mostBytes) {
            rotate();
        }
        log.append(lines);
    }

    private void rotate() throws IOException {
        int free = 1;
        // A rotation that failed has left a gap. It is filled first, so that each failure costs no older file.
        while (free < older && Files.exists(older(file, free))) {
            free++;
        }
        for (int i = free; i > 0; i--) {
            Files.move(i == 1 ? file : older(file, i - 1), older(file, i), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Returns the name of an older file; the newest has the number 1. */
    public static Path older(Path file, int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }
}
