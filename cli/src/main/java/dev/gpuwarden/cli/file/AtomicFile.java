package dev.gpuwarden.cli.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Replaces files as a whole. After a disk without room, a kill or a loss of power the file has the old content or the new one. One
 * writer for each file; calls block on the disk.
 */
public final class AtomicFile {

    private static final String UNFINISHED = ".new";

    private AtomicFile() {}

    /** Replaces the file by this text. See {@link #replace(Path, byte[])}. */
    public static void replace(Path file, String text) throws IOException {
        replace(file, text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Replaces the file, or creates it, and waits until the disk has it.
     *
     * @throws IOException if the disk does not take it; then the file is as it was, or has the new content, whose name may not survive a
     *     loss of power
     */
    public static void replace(Path file, byte[] content) throws IOException {
        Path unfinished = file.resolveSibling(file.getFileName() + UNFINISHED);
        // A new file, so that a link of this name is never followed.
        Files.deleteIfExists(unfinished);
        try {
            try (FileChannel out =
                    FileChannel.open(unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                LineLog.write(out, content);
                // Without it a file system may report only later that it has no room, and a loss of power may leave an
                // empty file.
                out.force(true);
            }
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            remove(unfinished, e);
            throw e;
        }
        syncFolder(file);
    }

    /** Makes the entry of a file, or its absence, as durable as its content. */
    public static void syncFolder(Path file) throws IOException {
        try (FileChannel entries = FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            entries.force(true);
        }
    }

    private static void remove(Path unfinished, IOException cause) {
        try {
            Files.deleteIfExists(unfinished);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
