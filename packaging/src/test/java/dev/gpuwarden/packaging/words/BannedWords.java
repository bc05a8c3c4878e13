package dev.gpuwarden.packaging.words;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The banned words, from a file of rows with tabs: where (`text` or `start`), pattern, better word. Thread-safe. */
final class BannedWords {

    private static final Pattern TEST_METHOD = Pattern.compile("(?m)^[ \\t]*void (\\w+)\\(");

    /** A row of the list. `better` is advice, for a person. */
    record Word(String pattern, String better) {}

    /** A banned word at its place; lines count from 1. */
    record Finding(String path, int line, String seen, String better) {

        @Override
        public String toString() {
            return path + ":" + line + ": \"" + seen + "\": write " + better;
        }
    }

    private final List<Word> anywhere = new ArrayList<>();
    private final List<Word> starts = new ArrayList<>();
    private final Pattern text;
    private final Pattern start;

    BannedWords(List<String> rows) {
        for (String row : rows) {
            if (!row.isBlank() && !row.startsWith("#")) {
                add(row.split("\t"));
            }
        }
        text = Pattern.compile("\\b(?:" + join(anywhere) + ")\\b", Pattern.CASE_INSENSITIVE);
        // A sentence ends with one of these and a space; in a start the capital matters.
        start = Pattern.compile("(?:" + Mask.START + "|[.!?][)\\]*_]*\\s)\\s*(?:" + join(starts) + ")\\b");
    }

    static BannedWords read(Path file) throws IOException {
        return new BannedWords(Files.readAllLines(file));
    }

    private void add(String[] cells) {
        if (cells.length != 3 || Pattern.compile(cells[1]).matcher("").groupCount() > 0) {
            throw new IllegalArgumentException(
                    "expected where, pattern without groups, better word; seen " + String.join(" | ", cells));
        }
        Word word = new Word(cells[1].replace(" ", "\\s+"), cells[2]);
        switch (cells[0]) {
            case "text" -> anywhere.add(word);
            case "start" -> starts.add(word);
            default -> throw new IllegalArgumentException("expected text or start, seen " + cells[0]);
        }
    }

    private static String join(List<Word> words) {
        return String.join(
                "|", words.stream().map(word -> "(" + word.pattern() + ")").toList());
    }

    /**
     * Returns the findings of a file in the order of their kind and place.
     *
     * @param path from the repository's root; it decides what of the file is prose
     */
    List<Finding> find(String path, String content) {
        List<Finding> findings = new ArrayList<>();
        String prose = Prose.of(path, content);
        find(path, prose, content, 1, findings);
        if (path.contains("src/test/") && path.endsWith(".java")) {
            Matcher method = TEST_METHOD.matcher(content);
            while (method.find()) {
                String words = method.group(1).replaceAll("(?<=[a-z0-9])(?=[A-Z])", " ");
                words = Mask.START + words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
                find(path, words, words, lines(content, 0, method.start(1)) + 1, findings);
            }
        }
        return findings;
    }

    private void find(String path, String prose, String content, int firstLine, List<Finding> findings) {
        for (Matcher matcher : List.of(text.matcher(prose), start.matcher(prose))) {
            find(path, matcher, content, firstLine, matcher.pattern() == text ? anywhere : starts, findings);
        }
    }

    private static void find(
            String path, Matcher matcher, String content, int firstLine, List<Word> words, List<Finding> findings) {
        int line = firstLine;
        int counted = 0;
        while (matcher.find()) {
            for (int group = 1; group <= matcher.groupCount(); group++) {
                if (matcher.start(group) >= 0) {
                    line += lines(content, counted, matcher.start(group));
                    counted = matcher.start(group);
                    String seen = matcher.group(group).replaceAll("\\s+", " ");
                    findings.add(
                            new Finding(path, line, seen, words.get(group - 1).better()));
                }
            }
        }
    }

    private static int lines(String text, int from, int to) {
        int lines = 0;
        for (int i = from; i < to; i++) {
            lines += text.charAt(i) == '\n' ? 1 : 0;
        }
        return lines;
    }
}
