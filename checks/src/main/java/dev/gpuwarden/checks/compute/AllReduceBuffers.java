package dev.gpuwarden.checks.compute;

import dev.gpuwarden.core.compute.AllReducePattern;
import dev.gpuwarden.core.compute.AllReduceSums;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.ElementType;

/** The data of one GPU's part in all-reduces: its input, its sums, and their comparison on the GPU. For one thread. */
final class AllReduceBuffers {

    private final Communicator communicator;
    private final long input;
    private final long sums;
    private final long expected;
    /** Bytes of the input that are written, so that a run that ends early touches no more memory than it needs. */
    private long written = AllReducePattern.BYTES;

    private AllReduceSums seen = AllReduceSums.NOT_COMPARED;
    private boolean comparable = true;

    AllReduceBuffers(Communicator communicator, int rank, int ranks, long mostBytes) throws CollectiveException {
        this.communicator = communicator;
        input = communicator.allocate(Math.max(mostBytes, AllReducePattern.BYTES));
        sums = communicator.allocate(mostBytes);
        expected = communicator.allocate(AllReducePattern.BYTES);
        communicator.write(input, AllReducePattern.input(rank));
        communicator.write(expected, AllReducePattern.sum(ranks));
    }

    /** Returns the address of the input. */
    long input() {
        return input;
    }

    /** Returns the address of the sums. */
    long sums() {
        return sums;
    }

    /** Writes the input of a message, and zeros in place of its sums. */
    void prepare(long bytes) throws CollectiveException {
        while (written < bytes) {
            long offset = written % AllReducePattern.BYTES;
            long more = Math.min(written - offset, bytes - written);
            communicator.copy(input + written, input + offset, more);
            written += more;
        }
        clearSums(bytes);
    }

    void clearSums(long bytes) throws CollectiveException {
        communicator.fill(sums, bytes, (byte) 0);
    }

    /** Compares the sums of a message. A GPU or a driver that is too old for that leaves them uncompared. */
    void compare(long bytes) throws CollectiveException {
        if (!comparable) {
            return;
        }
        try {
            long wrong = communicator.countWrong(
                    sums, bytes / ElementType.FLOAT.bytes(), ElementType.FLOAT, expected, 0, AllReducePattern.PERIOD);
            seen = seen.and(bytes, wrong);
        } catch (CollectiveException e) {
            switch (e.kind()) {
                case NOT_SUPPORTED -> comparable = false;
                case BLIND -> seen = seen.andMissed(e.getMessage());
                default -> throw e;
            }
        }
    }

    /** Returns the result of all comparisons. */
    AllReduceSums seen() {
        return seen;
    }
}
