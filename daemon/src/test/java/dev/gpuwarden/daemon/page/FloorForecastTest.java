package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FloorForecastTest {

    private static final Instant NOW = Instant.parse("2026-06-02T12:00:00Z");
    private static final long MIB = 1L << 20;
    private static final long FLOOR = 1536 * MIB;

    /** Returns readings each 30 s up to now; 0 is the oldest. */
    private static Reading<Duration> of(int count, IntToLongFunction freeMib) {
        List<FloorForecast.Point> points = IntStream.range(0, count)
                .mapToObj(i ->
                        new FloorForecast.Point(NOW.minusSeconds(30L * (count - 1 - i)), freeMib.applyAsLong(i) * MIB))
                .toList();
        return FloorForecast.untilFloor(points, FLOOR, NOW);
    }

    private static String cause(Reading<Duration> forecast) {
        return ((Reading.Absent<Duration>) forecast).detail();
    }

    @Test
    void steadyLeakReachesTheFloorOnTime() {
        // 6 MiB/s, as in the incident of 2026-06-02, with 4596 MiB left above the floor.
        assertThat(of(10, i -> 1536 + 4596 + 180 * (9 - i))).isEqualTo(Reading.of(Duration.ofSeconds(766)));
    }

    @Test
    void noiseAndAModelThatComesAndGoesDoNotChangeIt() {
        Random random = new Random(1);
        Reading<Duration> forecast =
                of(20, i -> 1536 + 4000 + 180 * (19 - i) + random.nextInt(60) - (i == 7 || i == 8 ? 3000 : 0));
        assertThat(forecast.asOptional().orElseThrow().toSeconds()).isBetween(620L, 720L);
    }

    @Test
    void absenceOfATrendHasACause() {
        assertThat(cause(of(4, i -> 9000 - i)))
                .isEqualTo("expected 5 readings of the last 10 minutes, but there are 4");
        assertThat(cause(of(20, i -> 9000))).isEqualTo("free memory does not fall");
        assertThat(cause(of(20, i -> 9000 + i))).isEqualTo("free memory does not fall");
        assertThat(cause(of(20, i -> 9000 - i / 10 * 3000)))
                .as("a model was loaded once")
                .isEqualTo("free memory does not fall steadily");
        assertThat(cause(of(20, i -> 9000 - i - (i % 2 == 0 ? 3000 : 0))))
                .isEqualTo("free memory does not fall steadily");
        assertThat(cause(of(20, i -> 80_000 - i / 4))).isEqualTo("the floor is more than a day away");
    }

    @Test
    void floorThatIsReachedIsZeroAndOldReadingsDoNotCount() {
        assertThat(of(5, i -> 1536)).isEqualTo(Reading.of(Duration.ZERO));
        assertThat(of(60, i -> i < 40 ? 9000 - 100 * i : 5000)).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void readingsOfOneMomentAreNoTrend() {
        List<FloorForecast.Point> same = IntStream.range(0, 9)
                .mapToObj(i -> new FloorForecast.Point(NOW, (9000L - i) * MIB))
                .toList();
        assertThat(cause(FloorForecast.untilFloor(same, FLOOR, NOW))).isEqualTo("free memory does not fall");
    }
}
