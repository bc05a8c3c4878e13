package dev.gpuwarden.nccl.plan;

import dev.gpuwarden.core.port.ElementType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * All that is the same in each rank of a run.
 *
 * @param threads threads of a process, as nccl-tests counts them
 * @param gpus GPUs of each thread
 * @param root -1 for each rank in turn
 * @param iterations measured operations of a row
 * @param aggregated operations in each iteration, in one group
 * @param cycles repetitions of all rows; 0 without limit
 * @param checks repetitions of the check of data; 0 for none
 * @param blocking 0 none, 1 wait and barrier after each operation, 2 wait alone, 3 wait and barrier after each iteration
 * @param offset elements before the first one of each buffer, so that its address is not aligned
 * @param graphs launches of a CUDA graph of all iterations; 0 for none
 * @param timeout limit of a wait; zero for none
 * @param joining limit of the joining of all ranks
 */
public record Plan(
        Collective collective,
        int threads,
        int gpus,
        MessageSizes sizes,
        List<Operator> operators,
        List<ElementType> types,
        int root,
        int iterations,
        int warmUps,
        int aggregated,
        int cycles,
        int checks,
        int blocking,
        Averaging averaging,
        int offset,
        int graphs,
        Duration timeout,
        Duration joining,
        Switches switches) {

    /**
     * Choices between two.
     *
     * @param defaultStream whether the GPU's default stream is used
     * @param processorTime whether rows have the time for enqueueing instead of that for the operation
     * @param register 1 registers buffers with the library, and 2 as symmetric windows; 0 for neither
     * @param ctaPolicy of the library; -1 for its default
     * @param perIteration whether each iteration is measured by the GPU's clock
     * @param skipped iterations that those statistics leave out
     */
    public record Switches(
            boolean defaultStream,
            boolean processorTime,
            boolean timestamps,
            int register,
            int ctaPolicy,
            boolean memoryReport,
            boolean parallelInit,
            boolean perIteration,
            int skipped) {}

    /** A series of rows that differ in their size. */
    public record Series(ElementType type, Operator operator, int root) {}

    /** Returns the ranks of a process. */
    public int localRanks() {
        return threads * gpus;
    }

    /** Returns the series in the order of nccl-tests: types, operators, roots. */
    public List<Series> series(int ranks) {
        List<Series> all = new ArrayList<>();
        List<Operator> used = collective.hasOperator() ? operators : List.of(Operator.NONE);
        for (ElementType type : types) {
            for (Operator operator : used) {
                for (int one : roots(ranks)) {
                    all.add(new Series(type, operator, one));
                }
            }
        }
        return all;
    }

    private List<Integer> roots(int ranks) {
        if (!collective.hasRoot()) {
            return List.of(-1);
        }
        return root >= 0
                ? List.of(root)
                : java.util.stream.IntStream.range(0, ranks).boxed().toList();
    }

    public Plan limited(long bytes) {
        return new Plan(
                collective,
                threads,
                gpus,
                sizes.limited(bytes),
                operators,
                types,
                root,
                iterations,
                warmUps,
                aggregated,
                cycles,
                checks,
                blocking,
                averaging,
                offset,
                graphs,
                timeout,
                joining,
                switches);
    }
}
