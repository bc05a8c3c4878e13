package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.compute.StragglerVerdict.Outcome;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The decision which GPUs fall behind: in the same run behind equal boards, and behind their own earlier rates. A higher rate is always
 * better. Pure.
 */
public final class Stragglers {

    private Stragglers() {}

    /**
     * The rate of one GPU.
     *
     * @param history its earlier rates of the same work, on the same board with the same settings
     */
    public record Sample(String gpu, EqualBoard board, Reading<Double> rate, List<Double> history) {

        public Sample {
            history = List.copyOf(history);
        }
    }

    /**
     * The lowest shares that are no fault.
     *
     * @param ofSiblings of the median of equal boards, from 0 to 1
     * @param ofHistory of the median of the GPU's own history, from 0 to 1
     * @param leastHistory earlier rates without which the history decides nothing; 0 if it never does
     */
    public record Limits(double ofSiblings, double ofHistory, int leastHistory) {}

    /**
     * Returns a verdict for each GPU, in their order.
     *
     * @param unit of all rates, for the text: "TFLOP/s"
     */
    public static List<StragglerVerdict> judge(List<Sample> samples, Limits limits, String unit) {
        return samples.stream()
                .map(sample -> judge(sample, samples, limits, unit))
                .toList();
    }

    private static StragglerVerdict judge(Sample sample, List<Sample> samples, Limits limits, String unit) {
        if (sample.rate() instanceof Reading.Absent<Double> why) {
            return new StragglerVerdict(Outcome.UNDECIDED, sample.gpu() + ": no rate: " + why.text());
        }
        double rate = sample.rate().asOptional().orElseThrow();
        List<Double> siblings = samples.stream()
                .filter(other -> other != sample && other.board().equals(sample.board()))
                .flatMap(other -> other.rate().asOptional().stream())
                .toList();
        List<String> parts = new ArrayList<>();
        parts.add(figure(rate) + " " + unit);
        boolean slow = false;
        boolean compared = !siblings.isEmpty();
        if (compared) {
            slow = rate < limits.ofSiblings() * median(siblings);
            parts.add(share(rate, siblings, siblings.size() + " equal GPUs", limits.ofSiblings(), unit));
        } else {
            parts.add("no equal GPU to compare with, so its history alone decides");
        }
        if (limits.leastHistory() > 0 && sample.history().size() >= limits.leastHistory()) {
            compared = true;
            slow = slow || rate < limits.ofHistory() * median(sample.history());
            parts.add(share(
                    rate,
                    sample.history(),
                    "its " + sample.history().size() + " earlier rates",
                    limits.ofHistory(),
                    unit));
        } else if (limits.leastHistory() > 0) {
            parts.add("only " + sample.history().size() + " of " + limits.leastHistory() + " earlier rates");
        }
        Outcome outcome = slow ? Outcome.SLOW : compared ? Outcome.EVEN : Outcome.UNDECIDED;
        return new StragglerVerdict(outcome, sample.gpu() + ": " + String.join("; ", parts));
    }

    private static String share(double rate, List<Double> others, String whose, double limit, String unit) {
        double median = median(others);
        return figure(100 * rate / median) + " % of the median of " + whose + " (" + figure(median) + " " + unit
                + "; at least " + figure(100 * limit) + " %)";
    }

    private static String figure(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
    }

    private static double median(List<Double> values) {
        return Spread.median(values.stream().mapToDouble(Double::doubleValue));
    }
}
