package dev.gpuwarden.runner;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Finds the nearest names to an unknown one. Pure. */
final class Names {

    private static final int SHOWN = 5;

    private Names() {}

    /** Returns at most five names, the nearest first. */
    static List<String> nearest(String wrong, Collection<String> names) {
        String key = wrong.toLowerCase(Locale.ROOT);
        return names.stream()
                .distinct()
                .sorted(Comparator.comparingInt((String name) -> distance(key, name.toLowerCase(Locale.ROOT)))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(SHOWN)
                .toList();
    }

    /** Returns the number of edits from one to the other; 0 where the wrong name is a part of it. */
    static int distance(String wrong, String name) {
        int[] row = new int[name.length() + 1];
        for (int j = 0; j <= name.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= wrong.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= name.length(); j++) {
                int above = row[j];
                int change = diagonal + (wrong.charAt(i - 1) == name.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(change, Math.min(above, row[j - 1]) + 1);
                diagonal = above;
            }
        }
        return name.contains(wrong) ? 0 : row[name.length()];
    }
}
