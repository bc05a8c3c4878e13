package dev.gpuwarden.checks.script;

import dev.gpuwarden.core.util.Text;

/** A filter that makes a program's output safe for a log line, a terminal and an event. */
final class CleanText {

    private CleanText() {}

    /** Returns one line without control characters, with at most this many characters. */
    static String of(String text, int most) {
        StringBuilder clean = new StringBuilder(Math.min(text.length(), most));
        for (int i = 0; i < text.length() && clean.length() < most; ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            boolean odd = Character.isISOControl(c)
                    || Character.getType(c) == Character.FORMAT
                    || Character.getType(c) == Character.SURROGATE
                    || Character.getType(c) == Character.LINE_SEPARATOR
                    || Character.getType(c) == Character.PARAGRAPH_SEPARATOR;
            clean.appendCodePoint(odd ? ' ' : c);
        }
        return Text.head(clean.toString().strip(), most);
    }

    /** Returns the last line that is not blank. */
    static String lastLine(String text) {
        String stripped = text.stripTrailing();
        return stripped.substring(stripped.lastIndexOf('\n') + 1).strip();
    }
}
