package dev.gpuwarden.daemon.store;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.util.Mib;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The room of the store's disk, and the causes for which a disk takes no writes. */
final class DiskSpace {

    /** Less than SQLite needs for an empty store. */
    private static final long TOO_LITTLE = 64 << 10;

    /** Texts of ENOSPC, EDQUOT, EIO, EMFILE and ENFILE in Linux. */
    private static final Set<String> PASSING = Set.of(
            "no space left on device",
            "disk quota exceeded",
            "input/output error",
            "too many open files",
            "too many open files in system");

    private static final int READ_ONLY = 8;
    private static final int IO_ERROR = 10;
    private static final int FULL = 13;

    private DiskSpace() {}

    /**
     * Returns whether a file may be written later without a change of settings, rights or mounts: a disk gets room, and a user gets quota. A
     * wrong path, missing rights and a read-only file system stay.
     */
    static boolean mayPass(IOException e, Path file) {
        return !(e instanceof AccessDeniedException)
                && (PASSING.contains(FileErrors.why(e).toLowerCase(Locale.ROOT))
                        // The texts of the system are in the language of the user.
                        || free(file).filter(bytes -> bytes < TOO_LITTLE).isPresent());
    }

    /** Returns the cause with the folder and its free bytes. */
    static String cause(SQLException e, Path folder) {
        int code = e.getErrorCode() & 0xff;
        Optional<Long> free = free(folder);
        boolean full = code == FULL || free.filter(bytes -> bytes < TOO_LITTLE).isPresent();
        String what = full
                ? "disk full"
                : code == READ_ONLY
                        ? "read-only"
                        : code == IO_ERROR ? "the disk reports errors" : String.valueOf(e.getMessage());
        return what + " (" + folder
                + free.map(bytes -> ", " + text(bytes) + " free").orElse("") + ")";
    }

    /**
     * Returns the bytes that this user may still write; empty if the file system takes no writes, or does not report them. Read-only ones
     * (squashfs, ISO 9660) report 0 free bytes, those without a size (ramfs, /proc) report 0 bytes in all.
     */
    private static Optional<Long> free(Path file) {
        Path there = file;
        while (there.getParent() != null && !Files.exists(there)) {
            there = there.getParent();
        }
        try {
            FileStore store = Files.getFileStore(there);
            return store.isReadOnly() || store.getTotalSpace() == 0
                    ? Optional.empty()
                    : Optional.of(store.getUsableSpace());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String text(long bytes) {
        return bytes < 1 << 20 ? bytes + " B" : Mib.text(bytes);
    }
}
