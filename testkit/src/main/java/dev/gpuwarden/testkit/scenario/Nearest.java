package dev.gpuwarden.testkit.scenario;

import java.util.Comparator;
import java.util.Optional;

/** Finds the known name that a mistyped one probably meant. */
final class Nearest {

    private Nearest() {}

    /** Empty when nothing known is near enough to be what was meant. */
    static Optional<String> to(String seen, Iterable<String> known) {
        return java.util.stream.StreamSupport.stream(known.spliterator(), false)
                .min(Comparator.comparingInt((String name) -> distance(seen, name)))
                .filter(name -> distance(seen, name) <= Math.max(2, seen.length() / 3));
    }

    /** Single-character edits between two texts. */
    static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replace, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
