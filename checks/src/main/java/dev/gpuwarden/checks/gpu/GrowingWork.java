package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Work of growing sizes: a fast GPU needs much of it for a rate that counts, and a slow one little. The first size shows
 * the time that any work takes, such as the compilation of a kernel. The others grow until a run takes 100 ms longer, by
 * the host's clock. A GPU that cannot take the next size keeps its result of the size before, and so does one whose
 * result is wrong.
 */
record GrowingWork(LongSupplier nanos) {

    private static final long LONG_ENOUGH_NANOS = Duration.ofMillis(100).toNanos();

    /** The result of one GPU, and the size of work that it is of. */
    record Sized<W, R>(W work, Reading<R> result) {}

    /**
     * Returns the results of the largest size that ran, in the order of the GPUs.
     *
     * @param sizes from the smallest, at least two
     * @param measure runs work on all GPUs; blocks
     * @param right whether a result is right: a wrong one stays, since a larger size may not repeat it
     */
    <W, R> List<Sized<W, R>> run(List<W> sizes, Function<W, List<Reading<R>>> measure, Predicate<R> right) {
        List<Sized<W, R>> kept = new ArrayList<>();
        long least = Long.MAX_VALUE;
        for (W work : sizes) {
            long began = nanos.getAsLong();
            List<Reading<R>> results = measure.apply(work);
            long took = nanos.getAsLong() - began;
            for (int i = 0; i < results.size(); i++) {
                Sized<W, R> sized = new Sized<>(work, results.get(i));
                if (i == kept.size()) {
                    kept.add(sized);
                } else if (sized.result() instanceof Reading.Present<R>
                        && kept.get(i).result().asOptional().filter(right).isPresent()) {
                    kept.set(i, sized);
                }
            }
            least = Math.min(least, took);
            if (took - least >= LONG_ENOUGH_NANOS || results.stream().noneMatch(Reading.Present.class::isInstance)) {
                break;
            }
        }
        return kept;
    }
}
