package dev.gpuwarden.nccl.data;

import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nccl.plan.Collective;
import dev.gpuwarden.nccl.plan.Layout;
import dev.gpuwarden.nccl.plan.Operator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * The input of each rank, and the result that it must receive. Inputs are integers that are so small that each order of reduction gives
 * the same bits. Rank r has the same elements as rank 0, from another position on, so that no data is the same in two ranks.
 */
public final class TestData {

    /** Distance of the positions of two ranks; a prime number, as the period is. */
    private static final long RANK_DISTANCE = 7919;

    /** Distance of the positions of two repetitions of the check. */
    private static final long REPETITION_DISTANCE = 104_729;

    /** nccl-tests permits this distance for averages of floating-point numbers, whose division the library may do before or after. */
    private static final int AVERAGE_TOLERANCE = 2;

    private final Collective collective;
    private final Operator operator;
    private final int ranks;
    private final Pattern input;
    private final Pattern result;
    private final Pattern zero;
    private final int tolerance;

    private TestData(Collective collective, Operator operator, ElementType type, int ranks) {
        this.collective = collective;
        this.operator = operator;
        this.ranks = ranks;
        IntToDoubleFunction values = collective.reduces() ? reducible(operator, type, ranks) : i -> moved(type, i);
        input = Pattern.of(type, values);
        result = collective.reduces() ? Pattern.of(type, i -> reduced(values, type, i)) : input;
        zero = Pattern.of(type, i -> 0);
        tolerance = operator == Operator.AVG && !type.isInteger() ? AVERAGE_TOLERANCE : 0;
    }

    public static TestData of(Collective collective, Operator operator, ElementType type, int ranks) {
        return new TestData(collective, operator, type, ranks);
    }

    /** Returns the number by which a rank multiplies its elements with {@link Operator#MULSUM}. */
    public static int scale(int rank) {
        return 1 + rank % 2;
    }

    /** Returns that number as an element. */
    public static byte[] scalar(ElementType type, int rank) {
        ByteBuffer element = ByteBuffer.allocate(type.bytes()).order(ByteOrder.nativeOrder());
        Elements.put(type, element, 0, scale(rank));
        return element.array();
    }

    /** Returns the elements that ranks send. */
    public Pattern pattern() {
        return input;
    }

    /** Returns the permitted distance of an element, in numbers that its type can represent. */
    public int tolerance() {
        return tolerance;
    }

    private static double moved(ElementType type, int position) {
        return hash(position) % (Elements.exactLimit(type) + 1);
    }

    private static IntToDoubleFunction reducible(Operator operator, ElementType type, int ranks) {
        long limit = Elements.exactLimit(type);
        return switch (operator) {
            case MAX, MIN -> i -> hash(i) % (limit + 1);
            // A product of a few twos: of the elements that meet, about two are not one.
            case PROD -> i -> hash(i) % Math.max(4, ranks / 2) == 0 ? 2 : 1;
            // The library may multiply by the reciprocal before it adds: multiples of the number of ranks make that
            // almost exact.
            case AVG -> multiples(type, ranks, limit / ranks);
            default -> upTo(limit / (operator == Operator.MULSUM ? 2L * ranks : ranks), 4L * ranks / limit + 1);
        };
    }

    /**
     * Returns integers up to a limit.
     *
     * @param share zero where there are so many ranks that not each can add one
     * @param rarity then one of so many elements is 1, and the others are 0
     */
    private static IntToDoubleFunction upTo(long share, long rarity) {
        return share >= 1 ? i -> hash(i) % (share + 1) : i -> hash(i) % rarity == 0 ? 1 : 0;
    }

    private static IntToDoubleFunction multiples(ElementType type, int ranks, long share) {
        IntToDoubleFunction values = upTo(share, 4L * ranks / Elements.exactLimit(type) + 1);
        if (type.isInteger()) {
            return values;
        }
        // A power of two is exact in each type, for any number of ranks.
        int factor = share >= 1 ? ranks : Integer.highestOneBit(ranks);
        return i -> factor * values.applyAsDouble(i);
    }

    private double reduced(IntToDoubleFunction values, ElementType type, int position) {
        double reduced = operator == Operator.PROD ? 1 : operator == Operator.MIN ? Double.MAX_VALUE : 0;
        for (int rank = 0; rank < ranks; rank++) {
            double value = values.applyAsDouble((int) ((position + rank * RANK_DISTANCE) % Pattern.PERIOD));
            reduced = switch (operator) {
                case PROD -> reduced * value;
                case MAX -> Math.max(reduced, value);
                case MIN -> Math.min(reduced, value);
                case MULSUM -> reduced + value * scale(rank);
                default -> reduced + value;
            };
        }
        if (operator != Operator.AVG) {
            return reduced;
        }
        return type.isInteger() ? Math.floor(reduced / ranks) : reduced / ranks;
    }

    /** A hash without sign, whose low bits depend on all bits of the position (splitmix64). */
    private static long hash(int position) {
        long z = (position + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return (z ^ z >>> 31) >>> 1;
    }

    /** Returns the data that a rank sends, in its send buffer. */
    public Segment input(Layout layout, int rank, int repetition) {
        return new Segment(0, layout.sendCount(), input, start(rank, repetition));
    }

    private static long start(int rank, int repetition) {
        return rank * RANK_DISTANCE + repetition * REPETITION_DISTANCE;
    }

    /**
     * Returns the data that a rank has in its receive buffer afterwards.
     *
     * @param root -1 where there is none
     * @param inPlace whether a rank that receives nothing has its input there
     */
    public List<Segment> expected(Layout layout, int rank, int root, int repetition, boolean inPlace) {
        long part = layout.count();
        long seed = repetition * REPETITION_DISTANCE;
        return switch (collective) {
            case ALL_REDUCE -> List.of(new Segment(0, part, result, seed));
            case REDUCE_SCATTER -> List.of(new Segment(0, part, result, seed + rank * part));
            case REDUCE ->
                rank == root
                        ? List.of(new Segment(0, part, result, seed))
                        : untouched(layout, rank, repetition, inPlace);
            case BROADCAST -> List.of(new Segment(0, part, input, start(root, repetition)));
            case SENDRECV -> List.of(new Segment(0, part, input, start((rank + ranks - 1) % ranks, repetition)));
            case SCATTER -> List.of(new Segment(0, part, input, start(root, repetition) + rank * part));
            case ALLTOALL -> parts(part, repetition, rank * part);
            case GATHER -> rank == root ? parts(part, repetition, 0) : untouched(layout, rank, repetition, inPlace);
            case ALL_GATHER, HYPERCUBE -> parts(part, repetition, 0);
        };
    }

    /** Returns a part of each rank, in their order. */
    private List<Segment> parts(long part, int repetition, long offset) {
        List<Segment> parts = new ArrayList<>();
        for (int from = 0; from < ranks; from++) {
            parts.add(new Segment(from * part, part, input, start(from, repetition) + offset));
        }
        return parts;
    }

    /** Returns the content of a buffer that was zero before the input was written, and that nothing was received in. */
    private List<Segment> untouched(Layout layout, int rank, int repetition, boolean inPlace) {
        if (!inPlace) {
            return List.of(new Segment(0, layout.receiveCount(), zero, 0));
        }
        long from = layout.sendStep() * rank;
        long to = from + layout.sendCount();
        return List.of(
                new Segment(0, from, zero, 0),
                new Segment(from, layout.sendCount(), input, start(rank, repetition)),
                new Segment(to, layout.receiveCount() - to, zero, 0));
    }
}
