package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads log files of programs that are running. */
final class Log {

    private static final int TAIL_LINES = 20;

    private Log() {}

    /** Returns the last 20 lines, or the reason why they cannot be read. */
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
