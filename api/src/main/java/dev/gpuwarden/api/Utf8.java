package dev.gpuwarden.api;

import dev.gpuwarden.core.util.Text;

/** Untrusted text: its size on the wire, and its safe display. */
final class Utf8 {

    private static final char REPLACEMENT = '\uFFFD';

    private Utf8() {}

    /** Returns the number of bytes in UTF-8, without encoding the text. */
    static int length(String text) {
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            bytes += bytes(text, i);
        }
        return bytes;
    }

    /** Returns the longest beginning within the limit of bytes; no character is split. */
    static String head(String text, int maxBytes) {
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            bytes += bytes(text, i);
            if (bytes > maxBytes) {
                boolean apart = Character.isLowSurrogate(text.charAt(i))
                        && i > 0
                        && Character.isHighSurrogate(text.charAt(i - 1));
                return text.substring(0, apart ? i - 1 : i);
            }
        }
        return text;
    }

    /** Returns the bytes of one char: each half of a surrogate pair counts two of four bytes. */
    private static int bytes(String text, int at) {
        char c = text.charAt(at);
        if (c < 0x80) {
            return 1;
        }
        return c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }

    /** Returns the index of the first character that no name may have; -1 where there is none. */
    static int firstUnprintable(String text) {
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            if (!Text.isVisible(text.codePointAt(i))) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the beginning that has at most so many bytes, with the characters of {@link #shown(String)} replaced. */
    static String shown(String text, int maxBytes) {
        return shown(head(text, maxBytes));
    }

    /**
     * Returns the text without characters that move a terminal's cursor or change its reading order, each replaced;
     * line ends and tabs stay.
     */
    static String shown(String text) {
        int bad = firstUnprintable(text);
        if (bad < 0) {
            return text;
        }
        StringBuilder shown = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            int point = text.codePointAt(i);
            boolean stays = Text.isVisible(point) || point == '\n' || point == '\t';
            shown.appendCodePoint(stays ? point : REPLACEMENT);
        }
        return shown.toString();
    }
}
