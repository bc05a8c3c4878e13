package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CounterHistoryTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration WINDOW = Duration.ofMinutes(5);

    private final CounterHistory increases = new CounterHistory();

    private Reading<Long> at(int second, long value) {
        return increases.increase("eth0/errors", value, WINDOW, START.plusSeconds(second));
    }

    private static Absence cause(Reading<Long> reading) {
        return ((Reading.Absent<Long>) reading).cause();
    }

    @ParameterizedTest
    @CsvSource({"1", "7", "15", "60", "299"})
    void windowIsCoveredToWithinASixteenthAtAnyRateOfRuns(int every) {
        for (int second = 0; second < 300; second += every) {
            assertThat(cause(at(second, second))).isEqualTo(Absence.PENDING);
        }
        for (int second = 300 + every; second < 3000; second += every) {
            long increase = at(second, second).asOptional().orElseThrow();
            assertThat(increase).isBetween(300L, 300L + 19 + every);
        }
    }

    @Test
    void decreasingCounterIsReportedOnceAndReset() {
        at(0, 100);
        at(300, 200);
        assertThat(cause(at(310, 5))).isEqualTo(Absence.IMPLAUSIBLE);
        assertThat(cause(at(320, 6))).isEqualTo(Absence.PENDING);
        assertThat(at(610, 8).asOptional()).contains(3L);
    }

    @Test
    void oldValueDoesNotCoverTheWindow() {
        at(0, 100);
        assertThat(cause(at(86_400, 5000))).isEqualTo(Absence.PENDING);
    }

    @Test
    void clockSetBackResetsTheCounter() {
        at(1000, 100);
        assertThat(cause(at(10, 200))).isEqualTo(Absence.PENDING);
        assertThat(at(310, 205).asOptional()).contains(5L);
    }

    @Test
    void unusedCountersMakeRoom() {
        for (int i = 0; i < CounterHistory.MOST_COUNTERS; i++) {
            increases.increase("device-" + i, 1, WINDOW, START);
        }
        assertThat(((Reading.Absent<Long>) at(10, 1)).detail()).contains("4096 counters");
        assertThat(((Reading.Absent<Long>) at(700, 1)).detail()).contains("more than one run");
    }
}
