package dev.gpuwarden.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The archive of loaded classes in the runtime image, without which every start takes a multiple of its time. It is good for the
 * folder that it was written in; Java does without it elsewhere and reports nothing.
 */
public final class ClassArchive {

    private static final Path MAPPED = Path.of("/proc/self/maps");

    private final Path home;
    private final List<String> mapped;

    ClassArchive(Path home, List<String> mapped) {
        this.home = home;
        this.mapped = mapped;
    }

    /** That of the image which runs; empty outside an image, and in one that is made without archives, as a container image is. */
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

    /** Whether classes of this process come from it: Java maps its file into memory, or loads nothing from it. */
    public boolean inUse() {
        // Compared as the bytes that the kernel lists, whatever a path's characters are.
        String folder =
                new String((home.resolve("lib") + "/").getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        return mapped.stream().anyMatch(line -> line.contains(folder) && line.endsWith(".jsa"));
    }

    /** What to do where it is not in use. */
    public String advice() {
        return "not in use, every start takes longer; write it for this folder: '" + writer(home) + "'";
    }

    private static Path writer(Path home) {
        return home.resolve("bin/gpuwarden-optimise");
    }
}
