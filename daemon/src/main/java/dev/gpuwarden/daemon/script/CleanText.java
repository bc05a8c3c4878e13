package dev.gpuwarden.daemon.script;

import dev.gpuwarden.core.util.Text;

/** What somebody else's program wrote, made fit for a log line, a terminal and an event. */
final class CleanText {

    private CleanText() {}

    /** One line without control characters, at most so long. */
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

    /** The last line that has something in it. */
    static String lastLine(String text) {
        String stripped = text.stripTrailing();
        return stripped.substring(stripped.lastIndexOf('\n') + 1).strip();
    }
}
