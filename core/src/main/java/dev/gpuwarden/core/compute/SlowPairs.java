package dev.gpuwarden.core.compute;

import java.util.SortedSet;
import java.util.TreeSet;

/** The GPUs whose links explain a slow collective, by measurements of neighbouring pairs. Pure. */
public final class SlowPairs {

    private SlowPairs() {}

    /**
     * Returns the places of suspects in a ring of at least three GPUs. A GPU is one if both of its pairs are slow. A slow pair without such
     * a GPU has two suspects: the path between them is slow. It is empty if no pair is slower than the others.
     *
     * @param rates at place i the rate of GPUs i and i + 1; the last one closes the ring
     * @param share a pair is slow if its rate is below this share of the best one
     */
    public static SortedSet<Integer> suspects(double[] rates, double share) {
        int n = rates.length;
        double best = 0;
        for (double rate : rates) {
            best = Math.max(best, rate);
        }
        boolean[] slow = new boolean[n];
        for (int i = 0; i < n; i++) {
            slow[i] = rates[i] < share * best;
        }
        SortedSet<Integer> suspects = new TreeSet<>();
        for (int i = 0; i < n; i++) {
            if (slow[i] && slow[(i + n - 1) % n]) {
                suspects.add(i);
            }
        }
        SortedSet<Integer> alone = new TreeSet<>();
        for (int i = 0; i < n; i++) {
            int next = (i + 1) % n;
            if (slow[i] && !suspects.contains(i) && !suspects.contains(next)) {
                alone.add(i);
                alone.add(next);
            }
        }
        suspects.addAll(alone);
        return suspects;
    }
}
