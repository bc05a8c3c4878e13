package dev.gpuwarden.checks.child;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Programs that tests write. */
public final class Programs {

    private Programs() {}

    /** A script for /bin/sh that its owner may run. */
    public static Path script(Path file, String... lines) {
        return file(file, "rwxr-xr-x", "#!/bin/sh\n" + String.join("\n", lines) + "\n");
    }

    public static Path file(Path file, String permissions, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
            return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
