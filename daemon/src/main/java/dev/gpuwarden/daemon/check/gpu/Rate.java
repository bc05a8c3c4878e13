package dev.gpuwarden.daemon.check.gpu;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** How fast a counter rises, as the average over ten minutes. */
final class Rate {

    static final Duration WINDOW = Duration.ofMinutes(10);

    private static final List<Duration> PARTS = IntStream.of(540, 480, 420, 360, 300, 240, 180, 120, 60, 30, 15)
            .mapToObj(Duration::ofSeconds)
            .toList();

    private Rate() {}

    /**
     * Rises per minute. Until history covers the window: what the part that it covers comes to if nothing else rises, where that
     * alone is more than the limit; so that a storm is told at once, and nothing else before its time.
     *
     * @param increase asks history for the rise over a window
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
