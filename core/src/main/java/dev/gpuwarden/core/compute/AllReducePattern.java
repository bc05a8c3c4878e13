package dev.gpuwarden.core.compute;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntUnaryOperator;

/**
 * The data of an all-reduce whose sums are known: small integers in FP32, so that no order of addition rounds. Each rank begins at another
 * place of one sequence that repeats. Pure.
 */
public final class AllReducePattern {

    /** Elements that repeat: a prime number, so that data of another rank or from another place differs. */
    public static final int PERIOD = 1021;

    /** One repetition, in bytes. */
    public static final int BYTES = PERIOD * Float.BYTES;

    private static final int VALUES = 127;
    private static final int BETWEEN_RANKS = 37;

    private AllReducePattern() {}

    /** Returns one repetition of a rank's input, in a direct buffer. */
    public static ByteBuffer input(int rank) {
        return buffer(place -> value(place, rank));
    }

    /** Returns one repetition of the sum of all ranks, in a direct buffer. */
    public static ByteBuffer sum(int ranks) {
        return buffer(place -> {
            int sum = 0;
            for (int rank = 0; rank < ranks; rank++) {
                sum += value(place, rank);
            }
            return sum;
        });
    }

    private static int value(int place, int rank) {
        return 1 + (place + BETWEEN_RANKS * rank) % PERIOD * 31 % VALUES;
    }

    private static ByteBuffer buffer(IntUnaryOperator element) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
        for (int place = 0; place < PERIOD; place++) {
            buffer.putFloat(element.applyAsInt(place));
        }
        return buffer.flip();
    }
}
