package dev.gpuwarden.testkit.command;

import java.util.regex.Pattern;

/**
 * A line by which something shows.
 *
 * @param shown whether the line must be there, or be gone
 */
record ExpectedLine(Pattern line, boolean shown) {

    static ExpectedLine of(String line) {
        return new ExpectedLine(Pattern.compile("(?m)" + line), true);
    }

    /** The same line must not be there any more. */
    ExpectedLine gone() {
        return new ExpectedLine(line, false);
    }

    /** A text that could not be had shows nothing, not even that something is gone. */
    boolean matches(String text) {
        return !text.isEmpty() && line.matcher(text).find() == shown;
    }
}
