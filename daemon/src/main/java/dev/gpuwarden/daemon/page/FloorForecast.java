package dev.gpuwarden.daemon.page;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * When free memory reaches its floor, if it goes on as in the last minutes. Pure. The slope is the median of the slopes between
 * all pairs of readings (Theil and Sen), so that single loads and unloads of models do not change it.
 */
final class FloorForecast {

    static final Duration WINDOW = Duration.ofMinutes(10);
    static final int LEAST = 5;
    private static final Duration FARTHEST = Duration.ofHours(24);

    /** Share of pairs that must fall. Random noise has one half, a step down within the window little more. */
    private static final double STEADY = 0.8;

    /** One reading. */
    record Point(Instant time, long freeBytes) {}

    private FloorForecast() {}

    /**
     * Returns the time from now on; zero where the floor is reached already, absent with the cause where there is no trend.
     *
     * @param points the oldest first, each at another time
     */
    static Reading<Duration> untilFloor(List<Point> points, long floorBytes, Instant now) {
        List<Point> recent = points.stream()
                .filter(point -> !point.time().isBefore(now.minus(WINDOW)))
                .toList();
        if (recent.size() < LEAST) {
            return Reading.absent(
                    Absence.PENDING,
                    0,
                    "expected " + LEAST + " readings of the last " + WINDOW.toMinutes() + " minutes, but there are "
                            + recent.size());
        }
        if (recent.get(recent.size() - 1).freeBytes() <= floorBytes) {
            return Reading.of(Duration.ZERO);
        }
        List<Double> slopes = slopes(recent);
        double slope = median(slopes);
        if (slope >= 0) {
            return Reading.absent(Absence.NO_DATA, 0, "free memory does not fall");
        }
        long falling = slopes.stream().filter(each -> each < 0).count();
        if (falling < STEADY * slopes.size()) {
            return Reading.absent(Absence.NO_DATA, 0, "free memory does not fall steadily");
        }
        double level = median(recent.stream()
                .map(point -> point.freeBytes() - slope * seconds(now, point.time()))
                .toList());
        double left = Math.max(0, (level - floorBytes) / -slope);
        return left > FARTHEST.toSeconds()
                ? Reading.absent(Absence.NO_DATA, 0, "the floor is more than a day away")
                : Reading.of(Duration.ofSeconds(Math.round(left)));
    }

    /** Returns bytes per second between all pairs. */
    private static List<Double> slopes(List<Point> points) {
        List<Double> slopes = new ArrayList<>();
        for (int i = 0; i < points.size(); i++) {
            for (int j = i + 1; j < points.size(); j++) {
                double apart = seconds(points.get(i).time(), points.get(j).time());
                if (apart > 0) {
                    slopes.add((points.get(j).freeBytes() - points.get(i).freeBytes()) / apart);
                }
            }
        }
        return slopes;
    }

    /** Returns 0 for no values. */
    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int size = sorted.size();
        return size == 0 ? 0 : (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
    }

    private static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toMillis() / 1e3;
    }
}
