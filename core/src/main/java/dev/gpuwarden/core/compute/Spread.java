package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.List;

/** The distribution of a reading over some time, in the reading's unit. */
public record Spread(double median, double least, double most, int samples) {

    /** Returns the distribution; PENDING without a value. */
    public static Reading<Spread> of(List<Double> values) {
        if (values.isEmpty()) {
            return Reading.absent(Absence.PENDING, 0, "no reading during the work");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return Reading.of(new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1), sorted.size()));
    }
}
