package dev.gpuwarden.core.util;

/** Texts with a limit on their length, in `char`s. No method splits a surrogate pair. */
public final class Text {

    private static final String ELLIPSIS = "…";

    private Text() {}

    /**
     * Returns a stranger's text with blanks for characters that are not {@linkplain #isVisible visible}, {@linkplain #truncate truncated}. A
     * second call changes nothing more.
     */
    public static String printable(String text, int most) {
        StringBuilder visible = new StringBuilder(text.length());
        text.codePoints().map(point -> isVisible(point) ? point : ' ').forEach(visible::appendCodePoint);
        return truncate(visible.toString(), most);
    }

    /** Returns whether a terminal shows this character, and neither interprets nor hides it. */
    public static boolean isVisible(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /**
     * Returns the text, or its beginning and an ellipsis where it is longer than the limit.
     *
     * @param most length of the result, with the ellipsis; at least 1
     */
    public static String truncate(String text, int most) {
        return text.length() <= most ? text : head(text, most - 1) + ELLIPSIS;
    }

    /**
     * Returns the longest beginning of the text within the limit, without a mark.
     *
     * @param most length of the result; 0 or more
     */
    public static String head(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        boolean apart = most > 0 && Character.isHighSurrogate(text.charAt(most - 1));
        return text.substring(0, apart ? most - 1 : most);
    }
}
