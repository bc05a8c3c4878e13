package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** A position in a text that reading moves. It never leaves the text. */
final class Cursor {

    private static final int SHORTEST_UUID = 8;
    private static final int LONGEST_UUID = 40;

    final String text;
    int at;

    Cursor(String text, int at) {
        this.text = text;
        this.at = at;
    }

    boolean atEnd() {
        return at >= text.length();
    }

    /** Returns the character here; NUL at the end. */
    char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    /** Moves behind the word if the text has it here. */
    boolean skip(String word) {
        if (!text.startsWith(word, at)) {
            return false;
        }
        at += word.length();
        return true;
    }

    Cursor skipSpaces() {
        while (peek() == ' ' || peek() == '\t') {
            at++;
        }
        return this;
    }

    /** Reads a decimal number of at most 9 digits; returns -1 and does not move where there is none, or a longer one. */
    int number() {
        int start = at;
        int value = 0;
        while (at < text.length() && isDigit(peek()) && at - start < 10) {
            value = value * 10 + (peek() - '0');
            at++;
        }
        if (at == start || at - start > 9) {
            at = start;
            return -1;
        }
        return value;
    }

    /** Moves behind the digits here, however many, and returns the position. */
    int skipNumber() {
        while (isDigit(peek())) {
            at++;
        }
        return at;
    }

    /** Reads up to the character, which is skipped, or to the end. */
    String until(char end) {
        int stop = text.indexOf(end, at);
        String part = stop < 0 ? text.substring(at) : text.substring(at, stop);
        at = stop < 0 ? text.length() : stop + 1;
        return part;
    }

    String rest() {
        return text.substring(at);
    }

    /** Reads a GPU's UUID: `GPU-`, then hexadecimal digits and hyphens. Empty and no move for other text. */
    Optional<String> gpuUuid() {
        int start = at;
        if (!skip("GPU-")) {
            return Optional.empty();
        }
        while (isHex(peek()) || peek() == '-') {
            at++;
        }
        int length = at - start;
        if (length < SHORTEST_UUID || length > LONGEST_UUID || isWord(peek())) {
            at = start;
            return Optional.empty();
        }
        return Optional.of(text.substring(start, at));
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    static boolean isHex(char c) {
        return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F';
    }

    static boolean isWord(char c) {
        return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_';
    }
}
