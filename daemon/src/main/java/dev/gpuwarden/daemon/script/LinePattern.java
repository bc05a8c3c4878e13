package dev.gpuwarden.daemon.script;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.IOException;

/**
 * A pattern that must match up to the end of the newest line, as in node-problem-detector. A pattern that cannot match
 * a line's end is tried on that line alone, others on the last lines together.
 */
final class LinePattern {

    private static final int LONGEST = 4096;

    /** Expressions that may match a line's end, or make others do so. */
    private static final java.util.regex.Pattern MAY_SPAN =
            java.util.regex.Pattern.compile("\\\\[nNsSWDpPQx0-7CAaf]|\\[\\^|\\[\\[:|\\[[^\\]]*-|\\(\\?[a-zU]*s|\n");

    private static final String SPECIAL = "\\.+*?()[]{}|^$";

    private final Pattern pattern;
    private final String required;
    private final boolean spans;

    LinePattern(String expression) throws IOException {
        if (expression.length() > LONGEST) {
            throw new IOException("a pattern is longer than " + LONGEST + " characters");
        }
        try {
            pattern = Pattern.compile("(?:" + expression + ")\\z");
        } catch (PatternSyntaxException e) {
            throw new IOException("a pattern cannot be read: " + e.getMessage());
        }
        spans = MAY_SPAN.matcher(expression).find();
        required = prefix(expression);
    }

    /** Returns whether the pattern must be tried on more than the newest line. */
    boolean spans() {
        return spans;
    }

    /** Returns the start of the match; -1 if there is none. */
    int find(String text) {
        if (!text.contains(required)) {
            return -1;
        }
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.start() : -1;
    }

    /**
     * Returns the literal beginning of every match. It rules out most lines, a hundred times faster than the
     * expression.
     */
    static String prefix(String expression) {
        int end = 0;
        while (end < expression.length() && SPECIAL.indexOf(expression.charAt(end)) < 0) {
            end++;
        }
        if (hasBranches(expression)) {
            return "";
        }
        boolean lastMayBeMissing = end < expression.length() && "*?{".indexOf(expression.charAt(end)) >= 0;
        return expression.substring(0, lastMayBeMissing ? Math.max(0, end - 1) : end);
    }

    /** Returns whether the expression has a branch outside of all brackets, which begins with something else. */
    private static boolean hasBranches(String expression) {
        int depth = 0;
        for (int i = 0; i < expression.length(); i++) {
            char c = expression.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                depth--;
            } else if (c == '|' && depth <= 0) {
                return true;
            }
        }
        return false;
    }
}
