package dev.gpuwarden.packaging.words;

import java.util.regex.Pattern;

/** Comments and messages of languages with the comments of C: Java, JavaScript, C, protobuf. */
final class CodeProse {

    private static final Pattern MARGIN = Pattern.compile("(?m)^[ \t]*\\*+");
    private static final Pattern TAG =
            Pattern.compile("@(?:(?:param|throws)\\s+\\S+|return\\b|see\\s[^\n]*|\\w+)|</?p>");
    private static final Pattern MESSAGE = Pattern.compile("[A-Za-z]{2,}[,:;]? [A-Za-z]");

    private final Mask mask;
    private final String text;
    private final boolean strings;
    private final boolean singleQuotes;
    private int last = -1;

    private CodeProse(Mask mask, boolean strings, boolean singleQuotes) {
        this.mask = mask;
        this.text = mask.text;
        this.strings = strings;
        this.singleQuotes = singleQuotes;
    }

    /**
     * Marks the prose of a source file.
     *
     * @param strings whether string literals are messages: those of tests are data
     * @param singleQuotes whether single quotes and backticks enclose strings, as in JavaScript
     */
    static void mark(Mask mask, boolean strings, boolean singleQuotes) {
        new CodeProse(mask, strings, singleQuotes).run();
    }

    private void run() {
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (text.startsWith("//", at)) {
                at = lineComment(at);
            } else if (text.startsWith("/*", at)) {
                at = blockComment(at);
            } else if (text.startsWith("\"\"\"", at)) {
                at = string(at, 3, end(at + 3, "\"\"\"", true));
            } else if (c == '"' || (singleQuotes && (c == '\'' || c == '`'))) {
                at = string(at, 1, end(at + 1, String.valueOf(c), c == '`'));
            } else if (c == '\'') {
                at = end(at + 1, "'", false) + 1;
            } else {
                at++;
            }
        }
    }

    private int lineComment(int at) {
        int end = text.indexOf('\n', at);
        end = end < 0 ? text.length() : end;
        mask.keep(at + 2, end);
        if (last < 0 || !text.substring(last, at).isBlank()) {
            mask.start(at);
        }
        last = end;
        return end;
    }

    private int blockComment(int at) {
        int close = text.indexOf("*/", at + 2);
        int end = close < 0 ? text.length() : close;
        int body = text.startsWith("/**", at) && end > at + 2 ? at + 3 : at + 2;
        mask.keep(body, end);
        mask.start(at);
        var margin = MARGIN.matcher(text).region(body, end);
        while (margin.find()) {
            mask.drop(margin.start(), margin.end());
        }
        var tag = TAG.matcher(text).region(body, end);
        while (tag.find()) {
            if (text.charAt(tag.start() - 1) != '{') {
                mask.drop(tag.start(), tag.end());
                mask.start(tag.start());
            }
        }
        return Math.min(text.length(), end + 2);
    }

    /** A literal of several words is a message; one that continues another belongs to its sentence. */
    private int string(int at, int delimiter, int end) {
        int from = at + delimiter;
        if (strings && from < end && MESSAGE.matcher(text).region(from, end).find()) {
            mask.keep(from, end);
            if (!continues(at)) {
                mask.start(at);
            }
        }
        return Math.min(text.length(), end + delimiter);
    }

    private boolean continues(int at) {
        int before = at - 1;
        while (before >= 0 && Character.isWhitespace(text.charAt(before))) {
            before--;
        }
        return before >= 0 && text.charAt(before) == '+';
    }

    /** Returns the end of a literal: its delimiter, or the line's end unless it may continue on the next line. */
    private int end(int from, String delimiter, boolean lines) {
        int at = from;
        while (at < text.length() && !text.startsWith(delimiter, at) && (lines || text.charAt(at) != '\n')) {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        return Math.min(at, text.length());
    }
}
