package dev.gpuwarden.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The test whether systemd's journal reads what this program writes. */
public final class JournalStream {

    /** Prefix of a line with the priority "error" of syslog. */
    static final String ERROR_PREFIX = "<3>";

    private JournalStream() {}

    public static boolean isStandardError() {
        return reads(System.getenv("JOURNAL_STREAM"), Path.of("/proc/self/fd/2"));
    }

    /**
     * Returns whether the file is the stream that systemd.exec(5) names in JOURNAL_STREAM, "DEVICE:INODE". The variable
     * alone is no proof: child processes inherit it and may have another standard error.
     */
    static boolean reads(@Nullable String stream, Path file) {
        if (stream == null) {
            return false;
        }
        try {
            return stream.equals(Files.getAttribute(file, "unix:dev") + ":" + Files.getAttribute(file, "unix:ino"));
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return false;
        }
    }
}
