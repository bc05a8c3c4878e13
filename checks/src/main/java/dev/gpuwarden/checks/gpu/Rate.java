package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The rate of a counter, as the average over ten minutes. */
final class Rate {

    static final Duration WINDOW = Duration.ofMinutes(10);

    private static final List<Duration> PARTS = IntStream.of(540, 480, 420, 360, 300, 240, 180, 120, 60, 30, 15)
            .mapToObj(Duration::ofSeconds)
            .toList();

    private Rate() {}

    /**
     * Returns the increase per minute. Until history covers the window, it returns the rate that results if nothing
     * else is counted, provided that this rate exceeds the limit. So a storm is reported immediately, and nothing else
     * early.
     *
     * @param increase returns the increase over a window
     */
    static Reading<Double> perMinute(Function<Duration, Reading<Long>> increase, double limit) {
        Reading<Double> whole = increase.apply(WINDOW).map(Rate::perMinute);
        if (whole instanceof Reading.Absent<Double> absent && absent.cause() == Absence.PENDING) {
            for (Duration part : PARTS) {
                Reading<Double> atLeast = increase.apply(part).map(Rate::perMinute);
                if (atLeast instanceof Reading.Present<Double> present) {
                    return present.value() > limit ? present : whole;
                }
            }
        }
        return whole;
    }

    private static double perMinute(long rise) {
        return rise * 60.0 / WINDOW.toSeconds();
    }
}
