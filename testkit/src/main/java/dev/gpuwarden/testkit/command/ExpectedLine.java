package dev.gpuwarden.testkit.command;

import java.util.regex.Pattern;

/**
 * A line that an output must contain, or must not contain.
 *
 * @param shown true when the line must exist, false when it must not
 */
record ExpectedLine(Pattern line, boolean shown) {

    static ExpectedLine of(String line) {
        return new ExpectedLine(Pattern.compile("(?m)" + line), true);
    }

    /** Returns the expectation that the line does not exist any more. */
    ExpectedLine gone() {
        return new ExpectedLine(line, false);
    }

    /** Returns true when the text meets the expectation. An empty text is a failed query and never meets one. */
    boolean matches(String text) {
        return !text.isEmpty() && line.matcher(text).find() == shown;
    }
}
