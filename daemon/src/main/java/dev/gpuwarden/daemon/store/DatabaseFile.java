package dev.gpuwarden.daemon.store;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The file of the store, which this process alone writes; or memory, if no file can be written. */
final class DatabaseFile implements AutoCloseable {

    /** SQLITE_CANTOPEN. */
    private static final int CANNOT_OPEN = 14;

    private static final System.Logger LOG = System.getLogger(DatabaseFile.class.getName());
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
    /** The suffixes of SQLite's files: the write-ahead log, its index, and the database. */
    private static final List<String> PARTS = List.of("-wal", "-shm", "");

    private final Path file;
    private final String memoryCause;
    private final boolean fellBack;
    /** True once this process holds the file, or needs not hold it. */
    private volatile boolean claimed;

    private volatile @Nullable FileChannel lock;

    private DatabaseFile(Path file, @Nullable FileChannel lock, String memoryCause, boolean fellBack) {
        this.file = file;
        this.lock = lock;
        this.memoryCause = memoryCause;
        this.fellBack = fellBack;
        this.claimed = true;
    }

    /**
     * Claims the file for this process. A disk that has no room or fails now is no obstacle: {@link #begin} claims the file once it can.
     *
     * @param named true if an operator chose the file, which must not be replaced by memory then
     * @throws UserError if another process holds the file, or if a named file cannot be written as long as its folder, its rights or a
     *     read-only file system stay as they are
     */
    static DatabaseFile claim(Path path, boolean named) {
        if (path.equals(StoreSettings.MEMORY)) {
            return new DatabaseFile(path, null, "as set by --store.path", false);
        }
        Path file = path.toAbsolutePath().normalize();
        DatabaseFile claim = new DatabaseFile(file, null, "", false);
        claim.claimed = false;
        try {
            claim.claim();
        } catch (IOException e) {
            if (!DiskSpace.mayPass(e, file)) {
                return inMemory(file, named, "cannot write to " + at(file, e) + ": " + e);
            }
            LOG.log(Level.WARNING, "the event store {0} cannot be created yet: {1}", file, e);
            return claim;
        }
        if (!Files.isWritable(file) || !Files.isWritable(folder(file))) {
            claim.close();
            return inMemory(file, named, "cannot write to " + file);
        }
        return claim;
    }

    private static Path folder(Path file) {
        return Optional.ofNullable(file.getParent()).orElse(file);
    }

    /** Returns the folder if the file could not be reached, else the file. */
    private static Path at(Path file, IOException e) {
        return e instanceof FileSystemException named
                        && String.valueOf(named.getFile()).equals(file.toString())
                ? file
                : folder(file);
    }

    private void claim() throws IOException {
        Files.createDirectories(folder(file));
        FileChannel opened = FileChannel.open(
                Path.of(file + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            hold(opened, file);
            create(file);
        } catch (IOException | UserError e) {
            close(opened);
            throw e;
        }
        lock = opened;
        claimed = true;
    }

    /** Creates an empty file with restricted permissions, since it holds kernel messages and process names. */
    private static void create(Path file) throws IOException {
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----")));
        } catch (FileAlreadyExistsException there) {
            // Nothing to do; a check beforehand would not prevent this exception.
            LOG.log(Level.DEBUG, "{0} is there", file);
        }
    }

    /**
     * Claims the file if that was not possible before. Creates the folder and the file if they are missing; a failure shows when the file is
     * opened.
     *
     * @throws SQLException if the file cannot be claimed now
     */
    void begin() throws SQLException {
        if (inMemory()) {
            return;
        }
        try {
            if (!claimed) {
                claim();
            }
            Files.createDirectories(folder(file));
            create(file);
        } catch (IOException | UserError e) {
            if (!claimed) {
                throw new SQLException(
                        e instanceof IOException io ? FileErrors.why(io) : e.getMessage(), null, CANNOT_OPEN);
            }
            LOG.log(Level.DEBUG, "cannot make " + file, e);
        }
    }

    /** Returns why the file cannot be written, for users, with the room of its disk. Reads the file system. */
    String cause(SQLException e) {
        return inMemory() ? String.valueOf(e.getMessage()) : DiskSpace.cause(e, folder(file));
    }

    /** Returns a file that this process only reads. */
    static DatabaseFile unclaimed(Path file) {
        return new DatabaseFile(file, null, "", false);
    }

    private static DatabaseFile inMemory(Path file, boolean named, String cause) {
        if (named) {
            throw new UserError("--store.path " + file + ": " + cause
                    + "; name a file that can be written, or :memory: for events that end with the daemon");
        }
        LOG.log(
                Level.WARNING,
                "events are kept in memory and lost when the daemon ends: " + cause
                        + "; name a file that can be written with --store.path");
        return new DatabaseFile(file, null, cause, true);
    }

    private static void hold(FileChannel channel, Path file) throws IOException {
        FileLock held;
        try {
            held = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            held = null;
        }
        if (held == null) {
            ByteBuffer holder = ByteBuffer.allocate(20);
            channel.read(holder, 0);
            throw new UserError("the event store " + file + " is in use by another gpuwarden daemon (process "
                    + new String(holder.array(), 0, holder.position(), StandardCharsets.US_ASCII).strip()
                    + "): stop it, or name another file with --store.path");
        }
        try {
            channel.truncate(0);
            channel.write(
                    ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)), 0);
        } catch (IOException full) {
            LOG.log(Level.DEBUG, "the lock has no room for the process number", full);
        }
    }

    /** Returns why the store is in memory; empty for a file. */
    String memoryCause() {
        return memoryCause;
    }

    /** Returns true if events are in memory because the default file cannot be written: none may be acknowledged. */
    boolean fellBack() {
        return fellBack;
    }

    boolean inMemory() {
        return !memoryCause.isEmpty();
    }

    /** Returns the name for {@link Sql#open}. */
    String name() {
        return inMemory() ? StoreSettings.MEMORY.toString() : file.toString();
    }

    /** Returns the identity of the file, which changes when the file is replaced; empty if there is none. */
    Optional<Object> identity() {
        if (inMemory()) {
            return Optional.of(this);
        }
        try {
            return Optional.ofNullable(
                    Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the size of file and log in bytes, without SQLite's memory. */
    long bytes() {
        long sum = 0;
        for (String part : inMemory() ? List.<String>of() : PARTS) {
            try {
                sum += Files.size(Path.of(file + part));
            } catch (IOException none) {
                continue;
            }
        }
        return sum;
    }

    /** Renames the file and its log, so that a new one can be created. Returns the new name. */
    Path setAside(Instant now) throws IOException {
        Path aside = Path.of(file + ".corrupt-" + STAMP.format(now));
        for (int i = 2; Files.exists(aside); i++) {
            aside = Path.of(file + ".corrupt-" + STAMP.format(now) + "-" + i);
        }
        for (String part : PARTS) {
            Path from = Path.of(file + part);
            if (Files.exists(from)) {
                Files.move(from, Path.of(aside + part));
            }
        }
        return aside;
    }

    @Override
    public void close() {
        FileChannel held = lock;
        if (held != null) {
            close(held);
        }
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
