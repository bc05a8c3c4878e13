package dev.gpuwarden.testkit.command;

import java.util.regex.Pattern;

/**
 * A line by which something shows.
 *
 * @param shown whether the line must be there, or be gone
 */
record DemoSign(Pattern line, boolean shown) {

    static DemoSign of(String line) {
        return new DemoSign(Pattern.compile("(?m)" + line), true);
    }

    /** The same line must not be there any more. */
    DemoSign gone() {
        return new DemoSign(line, false);
    }

    /** A text that could not be had shows nothing, not even that something is gone. */
    boolean seenIn(String text) {
        return !text.isEmpty() && line.matcher(text).find() == shown;
    }
}
