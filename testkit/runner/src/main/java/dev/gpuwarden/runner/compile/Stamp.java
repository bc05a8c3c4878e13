package dev.gpuwarden.runner.compile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Locale;

/** The time of the last event of a part: that of an empty file beside its classes, which outlives a compiler that fails. */
enum Stamp {
    /** Its interface changed. */
    INTERFACE,
    /** All of its files were compiled. */
    WHOLE;

    static final FileTime NEVER = FileTime.from(Instant.EPOCH);

    private Path file(Part part) {
        String name = part.classes().getFileName() + "." + name().toLowerCase(Locale.ROOT);
        return part.classes().resolveSibling(name);
    }

    FileTime of(Part part) throws IOException {
        Path file = file(part);
        return Files.exists(file) ? Files.getLastModifiedTime(file) : NEVER;
    }

    void set(Part part) throws IOException {
        Path file = file(part);
        Files.createDirectories(part.classes());
        Files.writeString(file, "");
        Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
    }

    static FileTime later(FileTime one, FileTime other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
