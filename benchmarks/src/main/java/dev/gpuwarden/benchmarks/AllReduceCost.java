package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.PrintStream;
import java.util.Arrays;

/**
 * The time of an all-reduce by gpuwarden's binding, compared with a C program on the same library. Both run in
 * turn, with the order changed after each pair. The ratio is the median of all pairs, with the interval that has it with 95 %.
 */
final class AllReduceCost {

    private static final long BYTES = 64L << 20;
    private static final int WARM_UP = 3;

    private AllReduceCost() {}

    private static long nanos(LineProgram baseline, int operations) {
        return Long.parseLong(baseline.ask(Integer.toString(operations)));
    }

    private static void compare(SimulatedNode node, int ranks, String form, int pairs, int operations, PrintStream out)
            throws CollectiveException {
        try (LineProgram baseline = LineProgram.start(
                "gpuwarden.baseline",
                String.valueOf(node.libraryPath().getParent()),
                Integer.toString(ranks),
                Long.toString(BYTES),
                form)) {
            AllReduceRanks java = new AllReduceRanks(node, ranks, BYTES);
            nanos(baseline, WARM_UP);
            java.nanos(WARM_UP);
            double[] ofC = new double[pairs];
            double[] ofJava = new double[pairs];
            double[] ratios = new double[pairs];
            for (int i = 0; i < pairs; i++) {
                if (i % 2 == 0) {
                    ofC[i] = nanos(baseline, operations);
                    ofJava[i] = java.nanos(operations);
                } else {
                    ofJava[i] = java.nanos(operations);
                    ofC[i] = nanos(baseline, operations);
                }
                ratios[i] = ofJava[i] / ofC[i];
            }
            Arrays.sort(ofC);
            Arrays.sort(ofJava);
            Arrays.sort(ratios);
            // The order statistics that have the median between them with 95 %, by the normal approximation.
            int low = (int) Math.max(0, Math.floor((pairs - 1.96 * Math.sqrt(pairs)) / 2));
            Figures.printLine(
                    out,
                    "%d ranks, %d MiB, C %s: C %.1f ms, Java %.1f ms; ratio of %d pairs %.3f (95 %%: %.3f to %.3f)",
                    ranks,
                    BYTES >> 20,
                    form,
                    ofC[pairs / 2] / 1e6 / operations,
                    ofJava[pairs / 2] / 1e6 / operations,
                    pairs,
                    ratios[pairs / 2],
                    ratios[low],
                    ratios[pairs - 1 - low]);
        }
    }

    /** @param args RANKS, plain or same, PAIRS, OPERATIONS */
    @SuppressForbidden("prints the figures")
    public static void main(String[] args) throws CollectiveException {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            compare(
                    node,
                    Integer.parseInt(args[0]),
                    args[1],
                    Integer.parseInt(args[2]),
                    Integer.parseInt(args[3]),
                    System.out);
        }
    }
}
