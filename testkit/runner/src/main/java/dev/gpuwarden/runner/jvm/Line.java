package dev.gpuwarden.runner.jvm;

import java.util.List;

/**
 * A line of the file in which a test JVM records the results of its tests as they end.
 *
 * @param kind what it is about
 * @param subject a test class with its package; of {@link Kind#TIER} the tag of a tier
 * @param name of the test in its class; empty where the line is about the class
 * @param millis how long it took; of {@link Kind#TIER} how many test methods it has
 * @param detail why it failed or was skipped; empty for the others
 */
public record Line(Kind kind, String subject, String name, long millis, String detail) {

    /** The subject of a line. */
    public enum Kind {
        PASSED,
        FAILED,
        SKIPPED,
        /** A test class has ended, with all of its tests, set-up and tear-down. */
        CLASS,
        /** The module has test methods of this tier. */
        TIER,
        /** All tests have ended. Without it the JVM died. */
        END
    }

    /** Returns the line without its end, for {@link #parse(String)}. */
    public String text() {
        return String.join("\t", kind.name(), escape(subject), escape(name), Long.toString(millis), escape(detail));
    }

    /** @throws IllegalArgumentException for a line that was cut */
    public static Line parse(String text) {
        List<String> part = List.of(text.split("\t", -1));
        if (part.size() != 5) {
            throw new IllegalArgumentException("expected five columns, seen " + part.size() + ": " + text);
        }
        return new Line(
                Kind.valueOf(part.get(0)),
                unescape(part.get(1)),
                unescape(part.get(2)),
                Long.parseLong(part.get(3)),
                unescape(part.get(4)));
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\")
                .replace("\t", "\\t")
                .replace("\n", "\\n")
                .replace("\r", "");
    }

    private static String unescape(String text) {
        StringBuilder result = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char at = text.charAt(i);
            if (at != '\\' || i + 1 == text.length()) {
                result.append(at);
                continue;
            }
            i++;
            switch (text.charAt(i)) {
                case 't' -> result.append('\t');
                case 'n' -> result.append('\n');
                default -> result.append(text.charAt(i));
            }
        }
        return result.toString();
    }
}
