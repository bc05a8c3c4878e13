package dev.gpuwarden.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Which programs the tests started, as the testkit noted it in a file: a line for each, with the program's name. */
public record Starts(Path file) {

    /** Begins at none. */
    public static Starts none(Path folder) throws IOException {
        Files.createDirectories(folder);
        Path file = folder.resolve("starts");
        Files.deleteIfExists(file);
        Files.createFile(file);
        return new Starts(file);
    }

    /** For people, the most frequent first, as in `312 kubectl, 40 openssl`. */
    public String text() throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        Files.readAllLines(file).forEach(name -> counts.merge(name, 1, Integer::sum));
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", "));
    }
}
