package dev.gpuwarden.core.kernel;

/** A place in a text, moved by what stands there. Never leaves the text, whatever it holds. */
final class Cursor {

    final String text;
    int at;

    Cursor(String text, int at) {
        this.text = text;
        this.at = at;
    }

    boolean atEnd() {
        return at >= text.length();
    }

    /** The character here, NUL at the end. */
    char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    /** Moves behind the word if it stands here. */
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

    /** The decimal number here, at most 9 digits long; -1 and no move where there is none, or a longer one. */
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

    /** Up to the character, which is skipped, or to the end. */
    String until(char end) {
        int stop = text.indexOf(end, at);
        String part = stop < 0 ? text.substring(at) : text.substring(at, stop);
        at = stop < 0 ? text.length() : stop + 1;
        return part;
    }

    String rest() {
        return text.substring(at);
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
