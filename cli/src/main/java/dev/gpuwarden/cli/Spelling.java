package dev.gpuwarden.cli;

import java.util.Collection;
import java.util.Optional;

/** A search for the known word that is nearest to a misspelled one. */
public final class Spelling {

    private Spelling() {}

    /** Returns the candidate with the fewest edits; empty where more than a third of the word would have to change. */
    public static Optional<String> nearest(String word, Collection<String> candidates) {
        String best = null;
        int fewest = Math.max(2, word.length() / 3) + 1;
        for (String candidate : candidates) {
            int edits = edits(word, candidate);
            if (edits < fewest) {
                fewest = edits;
                best = candidate;
            }
        }
        return Optional.ofNullable(best);
    }

    /**
     * Returns the number of insertions, deletions, replacements and swaps of neighbours between two words (optimal
     * string alignment).
     */
    static int edits(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                d[i][j] = i == 0 ? j : j == 0 ? i : cheapest(d, a, b, i, j);
            }
        }
        return d[a.length()][b.length()];
    }

    private static int cheapest(int[][] d, String a, String b, int i, int j) {
        int replace = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        int least = Math.min(replace, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(least, d[i - 2][j - 2] + 1) : least;
    }
}
