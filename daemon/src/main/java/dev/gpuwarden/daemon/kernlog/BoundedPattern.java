package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.util.Text;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A user's pattern with bounded cost. Records without the required text are not matched, and long records are cut. A record on which
 * the expression takes too many steps counts as no match. Thread-safe.
 */
final class BoundedPattern {

    static final int LONGEST = 1024;

    /** The number of characters that one match may read, about a millisecond. Backtracking reads each character many times. */
    private static final int MOST_STEPS = 100_000;

    private final String required;
    private final Pattern pattern;
    private final boolean namesPci;
    private final boolean namesGpu;
    private final AtomicLong cutOff = new AtomicLong();

    /** The groups "pci" and "uuid" of a match; empty where the pattern has no such group. */
    record Match(Optional<String> pci, Optional<String> gpuUuid) {}

    BoundedPattern(String required, Pattern pattern) {
        this.required = required;
        this.pattern = pattern;
        this.namesPci = pattern.pattern().contains("(?<pci>");
        this.namesGpu = pattern.pattern().contains("(?<uuid>");
    }

    Optional<Match> find(String text) {
        if (!text.contains(required)) {
            return Optional.empty();
        }
        Matcher matcher = pattern.matcher(new Metered(Text.head(text, LONGEST), new int[1]));
        try {
            if (!matcher.find()) {
                return Optional.empty();
            }
            return Optional.of(new Match(
                    namesPci ? Optional.ofNullable(matcher.group("pci")) : Optional.empty(),
                    namesGpu ? Optional.ofNullable(matcher.group("uuid")) : Optional.empty()));
        } catch (TooMuch | StackOverflowError e) {
            cutOff.incrementAndGet();
            return Optional.empty();
        }
    }

    /** Returns the number of records on which the limit was exceeded. */
    long cutOff() {
        return cutOff.get();
    }

    /** The signal that ends the JDK's matcher, which has no limit of its own. */
    private static final class TooMuch extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooMuch() {
            super("", null, false, false);
        }
    }

    private record Metered(String text, int[] steps) implements CharSequence {
        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            if (++steps[0] > MOST_STEPS) {
                throw new TooMuch();
            }
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
