package dev.gpuwarden.cli.tls;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A value that is made from files, and made again when one of them changes. They are checked when the value is requested,
 * once a second at most. Files that cannot be used leave the previous value in force, and the log has one line for each
 * such change. Thread-safe.
 */
public final class ReloadedFiles<T> {

    private static final System.Logger LOG = System.getLogger(ReloadedFiles.class.getName());
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The way from the files to the value. */
    public interface Source<T> {
        /** @param files must have each file before it is read: only these are checked for changes */
        T load(Seen files) throws IOException, GeneralSecurityException;
    }

    private final String settings;
    private final Source<T> source;
    private final LongSupplier nanoTime;
    private Seen seen = new Seen();
    private T value;
    private long lookedNanos;

    /**
     * Makes the first value.
     *
     * @param settings the options that name the files, for the log
     * @throws IOException with the name of a file that cannot be used
     */
    public ReloadedFiles(String settings, Source<T> source, LongSupplier nanoTime)
            throws IOException, GeneralSecurityException {
        this.settings = settings;
        this.source = source;
        this.nanoTime = nanoTime;
        lookedNanos = nanoTime.getAsLong();
        value = source.load(seen);
    }

    /** Returns the value of the newest files that can be used. */
    public synchronized T get() {
        long now = nanoTime.getAsLong();
        if (now - lookedNanos >= LOOK_NANOS) {
            lookedNanos = now;
            if (seen.changed()) {
                load();
            }
        }
        return value;
    }

    private void load() {
        seen = new Seen();
        try {
            value = source.load(seen);
            LOG.log(Level.INFO, settings + ": the changed files are in force");
        } catch (IOException | GeneralSecurityException | UserError e) {
            LOG.log(
                    Level.WARNING,
                    settings + ": the changed files cannot be used, the previous ones stay in force: "
                            + e.getMessage());
        }
    }

    /** The files that a value depends on, as they were before they were read. */
    public static final class Seen {

        private final Map<Path, Object> stamps = new LinkedHashMap<>();

        /** Adds a file; returns it. */
        public Path add(Path file) {
            stamps.put(file, stamp(file));
            return file;
        }

        /** @throws IOException with the name of the file */
        byte[] read(Path file) throws IOException {
            try {
                return Files.readAllBytes(add(file));
            } catch (IOException e) {
                throw new IOException(file + ": " + FileErrors.why(e), e);
            }
        }

        private boolean changed() {
            return stamps.entrySet().stream().anyMatch(file -> !file.getValue().equals(stamp(file.getKey())));
        }

        /** In a Kubernetes volume, a link changes and leads to a file with another inode. */
        private static Object stamp(Path file) {
            try {
                BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
                return List.of(now.lastModifiedTime(), now.size(), String.valueOf(now.fileKey()));
            } catch (IOException e) {
                return FileErrors.why(e);
            }
        }
    }
}
