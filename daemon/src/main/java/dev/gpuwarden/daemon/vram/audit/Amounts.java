package dev.gpuwarden.daemon.vram.audit;

import java.util.Map;
import java.util.TreeMap;

/** Percentiles of amounts in bytes, in bounded memory: steps of a MiB, and larger ones for very many different amounts. */
final class Amounts {

    private static final int MOST_STEPS = 4096;

    private TreeMap<Long, Long> counts = new TreeMap<>();
    private long step = 1 << 20;
    private long total;
    private long largest;

    void add(long bytes) {
        counts.merge(up(bytes), 1L, Long::sum);
        total++;
        largest = Math.max(largest, bytes);
        while (counts.size() > MOST_STEPS) {
            step *= 2;
            TreeMap<Long, Long> coarser = new TreeMap<>();
            counts.forEach((amount, count) -> coarser.merge(up(amount), count, Long::sum));
            counts = coarser;
        }
    }

    private long up(long bytes) {
        return -Math.floorDiv(-bytes, step) * step;
    }

    long count() {
        return total;
    }

    long largest() {
        return largest;
    }

    /** Returns the amount that this share of the samples does not exceed; at most the largest one; 0 without a sample. */
    long percentile(double share) {
        long wanted = (long) Math.ceil(total * share);
        long seen = 0;
        for (Map.Entry<Long, Long> amount : counts.entrySet()) {
            seen += amount.getValue();
            if (seen >= wanted) {
                return Math.min(amount.getKey(), largest);
            }
        }
        return largest;
    }
}
