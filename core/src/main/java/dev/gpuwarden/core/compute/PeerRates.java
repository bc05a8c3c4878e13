package dev.gpuwarden.core.compute;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Rates of copies from each of some GPUs to each other one, in any unit. Pure.
 *
 * @param rates at [from][to]; NaN where it is unknown
 */
public record PeerRates(double[][] rates) {

    /**
     * Returns the median of all known rates, the upper one of two in the middle: one slow GPU of four makes half of the rates low. Empty
     * if none is known.
     */
    public OptionalDouble median() {
        double[] known = Arrays.stream(rates)
                .flatMapToDouble(Arrays::stream)
                .filter(rate -> !Double.isNaN(rate))
                .sorted()
                .toArray();
        return known.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(known[known.length / 2]);
    }

    /** Returns the lowest known rate of this GPU in either direction; empty if there is none. */
    public OptionalDouble least(int gpu) {
        double least = Double.NaN;
        for (int peer = 0; peer < rates.length; peer++) {
            double pair = least(gpu, peer);
            if (!(pair >= least)) {
                least = Double.isNaN(pair) ? least : pair;
            }
        }
        return Double.isNaN(least) ? OptionalDouble.empty() : OptionalDouble.of(least);
    }

    /**
     * Returns the peers of this GPU whose pair is slow for a reason that may be this GPU's. A pair of a GPU that is slow with most of its
     * peers is that GPU's alone.
     *
     * @param floor least rate of a pair that is not slow
     */
    public List<Integer> slowPeers(int gpu, double floor) {
        List<Integer> slow = new ArrayList<>();
        boolean mine = isSlowWithMost(gpu, floor);
        for (int peer = 0; peer < rates.length; peer++) {
            if (least(gpu, peer) < floor && (mine || !isSlowWithMost(peer, floor))) {
                slow.add(peer);
            }
        }
        return slow;
    }

    private boolean isSlowWithMost(int gpu, double floor) {
        int slow = 0;
        int known = 0;
        for (int peer = 0; peer < rates.length; peer++) {
            double pair = least(gpu, peer);
            known += Double.isNaN(pair) ? 0 : 1;
            slow += pair < floor ? 1 : 0;
        }
        return 2 * slow > known;
    }

    /** Returns the lower known rate of both directions; NaN if there is none. */
    private double least(int gpu, int peer) {
        double to = rates[gpu][peer];
        double from = rates[peer][gpu];
        return Double.isNaN(to) ? from : Double.isNaN(from) ? to : Math.min(to, from);
    }

    /** Returns the same rates without all others' than those of these GPUs, in their order. */
    public PeerRates of(List<Integer> gpus) {
        double[][] some = new double[gpus.size()][gpus.size()];
        for (int from = 0; from < some.length; from++) {
            for (int to = 0; to < some.length; to++) {
                some[from][to] = rates[gpus.get(from)][gpus.get(to)];
            }
        }
        return new PeerRates(some);
    }
}
