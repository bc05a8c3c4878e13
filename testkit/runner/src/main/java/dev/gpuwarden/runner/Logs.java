package dev.gpuwarden.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The outputs of jobs. */
final class Logs {

    private static final int LINES = 40;

    private Logs() {}

    static String tail(Path log) throws IOException {
        List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                .lines()
                .toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LINES), lines.size()));
    }
}
