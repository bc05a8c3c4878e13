package dev.gpuwarden.packaging.words;

import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A copy of a file in which only prose is left. Each character stays at its place, so a match in the copy gives the line of the
 * file. Code becomes spaces, quotations become {@link #QUOTED}. Not thread-safe.
 */
final class Mask {

    /** Stands for a quoted character: no word, and no space between words. */
    static final char QUOTED = '\u0001';

    /** Stands before the first character of a paragraph, heading, comment or message. */
    static final char START = '\u0002';

    private static final Pattern QUOTATION = Pattern.compile("`[^`\u0002]{1,400}`"
            + "|\"[^\"\u0002]{1,400}\"|\u201c[^\u201d\u0002]{1,400}\u201d"
            + "|(?<!\\w)'[^'\n\u0002]{1,200}'(?!\\w)"
            + "|\\{@(?:code|link|linkplain|literal|value)\\b[^{}]*}"
            + "|<(pre|code)>[\\s\\S]*?</\\1>"
            + "|https?://\\S+");

    final String text;
    private final char[] prose;

    Mask(String text) {
        this.text = text;
        prose = new char[text.length()];
        for (int i = 0; i < prose.length; i++) {
            prose[i] = text.charAt(i) == '\n' ? '\n' : ' ';
        }
    }

    /** Marks characters as prose. `to` is the first character after them. */
    void keep(int from, int to) {
        text.getChars(from, to, prose, from);
    }

    /** Marks a paragraph's start. The character there must not be prose itself. */
    void start(int at) {
        if (at >= 0 && at < prose.length) {
            prose[at] = START;
        }
    }

    /** Removes characters from the prose; words before and after them stay neighbours. */
    void drop(int from, int to) {
        fill(from, to, ' ');
    }

    /** Marks characters as quoted. */
    void quote(int from, int to) {
        fill(from, to, QUOTED);
    }

    private void fill(int from, int to, char with) {
        for (int i = from; i < to; i++) {
            prose[i] = text.charAt(i) == '\n' ? '\n' : with;
        }
    }

    /** Applies an action to each match of a pattern in the prose that is marked so far. */
    void each(Pattern pattern, Consumer<Matcher> action) {
        Matcher matcher = pattern.matcher(new String(prose));
        while (matcher.find()) {
            action.accept(matcher);
        }
    }

    /** Returns the prose, with quotations masked. */
    String prose() {
        each(QUOTATION, quotation -> quote(quotation.start(), quotation.end()));
        return new String(prose);
    }
}
