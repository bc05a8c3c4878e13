package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.stream.DoubleStream;

/** The distribution of a reading over some time, in the reading's unit. */
public record Spread(double median, double least, double most, int samples) {

    /** Returns the distribution; PENDING without a value. */
    public static Reading<Spread> of(List<Double> values) {
        if (values.isEmpty()) {
            return Reading.absent(Absence.PENDING, 0, "no reading during the work");
        }
        DoubleSummaryStatistics all =
                values.stream().mapToDouble(Double::doubleValue).summaryStatistics();
        double median = median(values.stream().mapToDouble(Double::doubleValue));
        return Reading.of(new Spread(median, all.getMin(), all.getMax(), values.size()));
    }

    /** Returns the median of at least one value; of an even number, the mean of the middle two. */
    public static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
