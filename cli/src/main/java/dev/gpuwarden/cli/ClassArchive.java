package dev.gpuwarden.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The archive of loaded classes in the runtime image. Without it, every start takes several times as long. The archive is valid for
 * jars with the same times; the launcher uses no other.
 */
public record ClassArchive(Path home, List<String> mapped) {

    private static final Path MAPPED = Path.of("/proc/self/maps");

    /**
     * Returns the archive of the running image; empty outside an image, and in an image without archives, such as a
     * container image.
     */
    public static Optional<ClassArchive> ofProcess() {
        Path home = Path.of(System.getProperty("gpuwarden.home", ""));
        if (!home.isAbsolute() || !Files.isExecutable(writer(home))) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ClassArchive(home, Files.readAllLines(MAPPED, StandardCharsets.ISO_8859_1)));
        } catch (IOException notKnown) {
            return Optional.empty();
        }
    }

    /**
     * Returns whether classes of this process come from the archive: Java maps its file into memory, or loads nothing
     * from it.
     */
    public boolean inUse() {
        // Compared as the bytes that the kernel lists, whatever a path's characters are.
        String folder =
                new String((home.resolve("lib") + "/").getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        return mapped.stream().anyMatch(line -> line.contains(folder) && line.endsWith(".jsa"));
    }

    /** Returns the action that makes an unused archive usable again. */
    public String advice() {
        return "not in use, every start takes longer; write it: '" + writer(home) + "'";
    }

    private static Path writer(Path home) {
        return home.resolve("bin/gpuwarden-optimise");
    }
}
