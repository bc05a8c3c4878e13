package dev.gpuwarden.daemon.reset;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;

/**
 * The lock that the resets of a node share, on a file in a folder of the host. The kernel releases it when its process ends, in any
 * way, so that none is left behind.
 */
public final class ResetLock implements AutoCloseable {

    private static final String FILE = "gpu-reset.lock";

    private final FileChannel channel;

    private ResetLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Takes the lock, and creates the folder. Empty while another process has it. */
    static Optional<ResetLock> tryTake(Path folder) throws IOException {
        Files.createDirectories(folder);
        // A link of this name is never followed.
        return taken(FileChannel.open(
                folder.resolve(FILE),
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS)));
    }

    /** Returns true while a process resets GPUs, or turns persistence mode on after a reset. */
    public static boolean isHeld(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        Optional<ResetLock> own = taken(FileChannel.open(
                file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)));
        own.ifPresent(ResetLock::close);
        return own.isEmpty();
    }

    private static Optional<ResetLock> taken(FileChannel channel) throws IOException {
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // Another thread of this process has it.
        } finally {
            if (lock == null) {
                channel.close();
            }
        }
        return lock == null ? Optional.empty() : Optional.of(new ResetLock(channel));
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The end of the process releases it.
        }
    }
}
