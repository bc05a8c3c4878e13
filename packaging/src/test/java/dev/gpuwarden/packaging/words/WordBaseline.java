package dev.gpuwarden.packaging.words;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The number of findings that each file may still have: rows of path and count, with a tab. A file without a row may have none. */
final class WordBaseline {

    static final String COMMAND = "JAVA_TOOL_OPTIONS=-Dwords.update=true ./gpuwarden test packaging PlainEnglishTest";

    private static final int SHOWN = 200;

    private final Map<String, Integer> allowed;

    WordBaseline(Map<String, Integer> allowed) {
        this.allowed = new TreeMap<>(allowed);
    }

    /** Reads a baseline; a file that is absent allows nothing. */
    static WordBaseline read(Path file) throws IOException {
        Map<String, Integer> allowed = new TreeMap<>();
        if (Files.exists(file)) {
            for (String row : Files.readAllLines(file)) {
                String[] cells = row.split("\t");
                allowed.put(cells[0], Integer.parseInt(cells[1]));
            }
        }
        return new WordBaseline(allowed);
    }

    /** Returns a line for each finding of a file with more than it may have, and for each file with fewer. Empty: all is well. */
    List<String> problems(Map<String, List<BannedWords.Finding>> findings) {
        List<String> problems = new ArrayList<>();
        List<String> fewer = new ArrayList<>();
        for (String path : union(findings)) {
            int seen = findings.getOrDefault(path, List.of()).size();
            int may = allowed.getOrDefault(path, 0);
            if (seen > may) {
                problems.add(path + ": expected at most " + may + " banned words, seen " + seen + ":");
                findings.get(path).forEach(finding -> problems.add("  " + finding));
            } else if (seen < may) {
                fewer.add(path + ": " + may + " banned words in the baseline, seen " + seen);
            }
        }
        if (problems.size() > SHOWN) {
            int left = problems.size() - SHOWN;
            problems.subList(SHOWN, problems.size()).clear();
            problems.add("and " + left + " lines more");
        }
        if (!fewer.isEmpty()) {
            problems.addAll(fewer.subList(0, Math.min(fewer.size(), SHOWN)));
            problems.add("Lower the baseline, or follow moved files: " + COMMAND);
        }
        return problems;
    }

    /**
     * Writes a new baseline of what is found. Files may move and counts may move with them; the sum may not rise.
     *
     * @throws IllegalStateException if the sum would rise; it names the files with more findings
     */
    void update(Path file, Map<String, List<BannedWords.Finding>> findings) throws IOException {
        int may = allowed.values().stream().mapToInt(Integer::intValue).sum();
        int seen = findings.values().stream().mapToInt(List::size).sum();
        if (Files.exists(file) && seen > may) {
            throw new IllegalStateException("the baseline may only fall: it allows " + may + " banned words, seen "
                    + seen + "\n" + String.join("\n", problems(findings)));
        }
        List<String> rows = new ArrayList<>();
        new TreeMap<>(findings).forEach((path, list) -> {
            if (!list.isEmpty()) {
                rows.add(path + "\t" + list.size());
            }
        });
        Files.write(file, rows);
    }

    private Iterable<String> union(Map<String, List<BannedWords.Finding>> findings) {
        TreeSet<String> paths = new TreeSet<>(allowed.keySet());
        paths.addAll(findings.keySet());
        return Collections.unmodifiableSet(paths);
    }
}
