package dev.gpuwarden.nccl.plan;

import dev.gpuwarden.core.compute.BusBandwidth;
import dev.gpuwarden.core.port.ElementType;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The collectives of nccl-tests, with its counts, its factors of bandwidth and its layouts. */
public enum Collective {
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    BROADCAST,
    REDUCE,
    ALLTOALL,
    SENDRECV,
    GATHER,
    SCATTER,
    HYPERCUBE;

    /** nccl-tests rounds the part of each rank down to this, so that parts are aligned. */
    private static final int PART_ALIGNMENT = 16;

    private static final String PROGRAM_SUFFIX = "_perf";

    /** Returns the collective of a name, with or without the suffix of nccl-tests' programs. */
    public static Optional<Collective> of(String name) {
        String bare = name.endsWith(PROGRAM_SUFFIX) ? name.substring(0, name.length() - PROGRAM_SUFFIX.length()) : name;
        return Stream.of(values()).filter(one -> one.label().equals(bare)).findFirst();
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the name of nccl-tests' program. */
    public String program() {
        return label() + PROGRAM_SUFFIX;
    }

    /** Returns whether rows have an operator. sendrecv prints one and does not use it. */
    public boolean hasOperator() {
        return reduces() || this == SENDRECV;
    }

    public boolean reduces() {
        return this == ALL_REDUCE || this == REDUCE_SCATTER || this == REDUCE;
    }

    public boolean hasRoot() {
        return this == BROADCAST || this == REDUCE || this == GATHER || this == SCATTER;
    }

    /** Returns whether send and receive buffer may be the same with a defined result. */
    public boolean worksInPlace() {
        return this != ALLTOALL && this != SENDRECV;
    }

    /** Returns whether this number of ranks can run it. */
    public boolean accepts(int ranks) {
        return this != HYPERCUBE || Integer.bitCount(ranks) == 1;
    }

    /** Returns whether a part of the message belongs to each rank. */
    private boolean hasParts() {
        return switch (this) {
            case ALL_GATHER, REDUCE_SCATTER, ALLTOALL, GATHER, SCATTER, HYPERCUBE -> true;
            default -> false;
        };
    }

    /** Returns the counts for a message of at most so many bytes. */
    public Layout layout(long bytes, ElementType type, int ranks) {
        long count = bytes / type.bytes();
        long align = Math.max(1, PART_ALIGNMENT / type.bytes());
        long part = hasParts() ? count / ranks / align * align : count;
        return switch (this) {
            case ALL_GATHER, GATHER, HYPERCUBE -> new Layout(type, part, part * ranks, part, part, 0);
            case REDUCE_SCATTER, SCATTER -> new Layout(type, part * ranks, part, part, 0, part);
            case ALLTOALL -> new Layout(type, part * ranks, part * ranks, part, 0, 0);
            default -> new Layout(type, part, part, part, 0, 0);
        };
    }

    /** Returns the bytes that count for the bandwidth of the algorithm. */
    public double countedBytes(Layout layout, int ranks) {
        double part = (double) layout.count() * layout.type().bytes();
        return switch (this) {
            case ALL_GATHER, REDUCE_SCATTER, ALLTOALL, GATHER, SCATTER -> part * ranks;
            case HYPERCUBE -> part * (ranks - 1);
            default -> part;
        };
    }

    /** Returns the ratio of the bandwidth of the bus to that of the algorithm. */
    public double busFactor(int ranks) {
        return switch (this) {
            case ALL_REDUCE -> BusBandwidth.allReduceFactor(ranks);
            case ALL_GATHER, REDUCE_SCATTER, ALLTOALL, GATHER, SCATTER -> (ranks - 1.0) / ranks;
            default -> 1;
        };
    }

    /** Returns the rates for one operation that takes this time. */
    public Bandwidth bandwidth(Layout layout, int ranks, double seconds) {
        double algorithm = countedBytes(layout, ranks) / 1e9 / seconds;
        return new Bandwidth(algorithm, algorithm * busFactor(ranks));
    }

    /**
     * Rates in gigabytes (1e9) a second.
     *
     * @param algorithm bytes of the message by time
     * @param bus the same, corrected so that it is comparable with the rate of the links for any number of ranks
     */
    public record Bandwidth(double algorithm, double bus) {}
}
