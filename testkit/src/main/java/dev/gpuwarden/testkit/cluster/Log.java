package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Files that programs write to while they run. */
final class Log {

    private static final int TAIL_LINES = 20;

    private Log() {}

    /** The last lines, or why they cannot be had. */
    static String tail(Path log) {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return log + " cannot be read: " + e;
        }
    }
}
