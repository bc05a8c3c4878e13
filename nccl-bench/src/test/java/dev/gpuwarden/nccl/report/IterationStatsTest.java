package dev.gpuwarden.nccl.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class IterationStatsTest {

    /** The histogram has four digits. */
    private static Offset<Double> digits(double value) {
        return within(value / 10_000);
    }

    @Test
    void percentilesHaveTheRankOfNcclTests() {
        List<Double> seconds =
                IntStream.rangeClosed(1, 20).mapToObj(i -> i / 1e6).toList();
        IterationStats stats = IterationStats.of(seconds);
        assertThat(stats.least()).isEqualTo(1);
        assertThat(stats.most()).isEqualTo(20);
        assertThat(stats.mean()).isCloseTo(10.5, within(1e-9));
        assertThat(stats.p50()).isCloseTo(11, digits(11));
        assertThat(stats.p95()).isCloseTo(19, digits(19));
        assertThat(stats.p99()).isCloseTo(20, digits(20));
        assertThat(stats.deviation()).isCloseTo(Math.sqrt(33.25), within(1e-9));
    }

    @Test
    void oneIterationIsEachPercentile() {
        IterationStats stats = IterationStats.of(List.of(0.25));
        assertThat(stats.p50()).isCloseTo(250_000, digits(250_000));
        assertThat(stats.p99()).isEqualTo(stats.p50());
        assertThat(stats.deviationPercent()).isZero();
    }

    @Test
    void everyRankOfAHundredIsFound() {
        List<Double> seconds =
                IntStream.rangeClosed(1, 100).mapToObj(i -> i / 1e3).toList();
        IterationStats stats = IterationStats.of(seconds);
        assertThat(stats.p50()).isCloseTo(51_000, digits(51_000));
        assertThat(stats.p95()).isCloseTo(95_000, digits(95_000));
        assertThat(stats.p99()).isCloseTo(99_000, digits(99_000));
    }
}
