package dev.gpuwarden.checks.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TrailsTest {

    private static final int BEGIN = 1000;

    private final CounterSeries counters = new CounterSeries(2);
    private final FlagSeries flags = new FlagSeries();

    private static Absence cause(Reading<?> reading) {
        return ((Reading.Absent<?>) reading).cause();
    }

    private void at(int step, long value) {
        counters.enter(BEGIN + step);
        counters.present(1, value);
    }

    private Reading<Long> increase(int step, int steps) {
        return counters.increase(1, BEGIN + step, steps);
    }

    @Test
    void aCounterThatWasNeverReadIsPending() {
        assertThat(cause(increase(0, 1))).isEqualTo(Absence.PENDING);
        counters.enter(BEGIN);
        assertThat(cause(increase(0, 1))).isEqualTo(Absence.PENDING);
    }

    @Test
    void itRisesFromItsFirstReadingNotFromZero() {
        at(0, 5000);
        assertThat(cause(increase(0, 4))).isEqualTo(Absence.PENDING);
        at(3, 5003);
        assertThat(cause(increase(3, 4))).isEqualTo(Absence.PENDING);
        at(4, 5004);
        assertThat(increase(4, 4)).isEqualTo(Reading.of(4L));
        assertThat(increase(4, 1)).isEqualTo(Reading.of(1L));
        assertThat(increase(4, 2)).isEqualTo(Reading.of(4L));
    }

    @Test
    void theLongestWindowForgetsNothingAndNoMore() {
        for (int step = 0; step <= 3 * TimeStep.MOST; step++) {
            at(step, 10L * step);
        }
        assertThat(increase(3 * TimeStep.MOST, TimeStep.MOST)).isEqualTo(Reading.of(10L * TimeStep.MOST));
    }

    @Test
    void severalSamplesOfOneStepAddUp() {
        at(0, 0);
        at(1, 1);
        at(1, 4);
        at(1, 9);
        assertThat(increase(1, 1)).isEqualTo(Reading.of(9L));
    }

    @Test
    void aResetIsImplausibleForItsWindowThenFine() {
        at(0, 100);
        at(5, 110);
        at(6, 3);
        at(6, 4);
        assertThat(cause(increase(6, 3))).isEqualTo(Absence.IMPLAUSIBLE);
        at(7, 5);
        assertThat(cause(increase(8, 3))).isEqualTo(Absence.IMPLAUSIBLE);
        at(9, 8);
        assertThat(increase(9, 3)).isEqualTo(Reading.of(4L));
    }

    @Test
    void absentReadingsNameTheirCauseAndLaterIncreasesIncludeTheGap() {
        at(0, 1);
        counters.enter(BEGIN + 4);
        counters.absent(1, Absence.GPU_LOST, 15);
        assertThat(increase(4, 2)).isEqualTo(Reading.absent(Absence.GPU_LOST, 15, ""));
        at(5, 7);
        assertThat(increase(5, 2)).isEqualTo(Reading.of(6L));
    }

    @Test
    void aWindowWithoutASampleIsStale() {
        at(0, 1);
        at(1, 2);
        assertThat(cause(increase(5, 4))).isEqualTo(Absence.STALE);
        assertThat(increase(4, 4)).isEqualTo(Reading.of(1L));
    }

    @Test
    void aHugeRiseIsCappedNotTurnedRound() {
        at(0, 0);
        at(1, 1L << 40);
        at(1, (1L << 40) + 1);
        assertThat(increase(1, 1)).isEqualTo(Reading.of((long) Integer.MAX_VALUE));
    }

    @Test
    void sharesAreOfSamplesAndUnionsAreExact() {
        for (int step = 0; step < 8; step++) {
            for (int i = 0; i < 15; i++) {
                flags.present(BEGIN + step, i < 5 ? 0x8 | 0x40 : i < 8 ? 0x8 | 0x80 : i < 9 ? 0x20 : 0);
            }
        }
        assertThat(share(0x40)).isCloseTo(5 / 15.0, within(1e-9));
        assertThat(share(0x8)).isCloseTo(8 / 15.0, within(1e-9));
        assertThat(share(0x40 | 0x80)).isCloseTo(8 / 15.0, within(1e-9));
        assertThat(share(0x8 | 0x20)).isCloseTo(9 / 15.0, within(1e-9));
        assertThat(share(0x1)).isZero();
        assertThat(cause(flags.share(0x1, BEGIN + 7, 8))).isEqualTo(Absence.PENDING);
        assertThat(cause(flags.share(0x1_0000, BEGIN + 7, 4))).isEqualTo(Absence.NOT_SUPPORTED);
        assertThat(cause(flags.share(0x1, BEGIN + 11, 4))).isEqualTo(Absence.STALE);
        flags.absent(Absence.FAILED, 999);
        assertThat(flags.share(0x1, BEGIN + 7, 4)).isEqualTo(Reading.absent(Absence.FAILED, 999, ""));
    }

    private double share(long bits) {
        return flags.share(bits, BEGIN + 7, 4).asOptional().orElseThrow();
    }

    @Test
    void moreCombinationsThanThereIsRoomForAreLeftOut() {
        flags.present(BEGIN - 1, 0);
        for (int i = 0; i < 2 * FlagSeries.COMBINATIONS; i++) {
            flags.present(BEGIN, i);
        }
        flags.present(BEGIN, 0);
        // 0 to 7 and once more 0; of those, 4 to 7 have the bit.
        assertThat(flags.share(0x4, BEGIN, 1)).isEqualTo(Reading.of(4 / 9.0));
    }

    @Test
    void moreSamplesThanACellCountsDoNotTurnIntoOtherFlags() {
        flags.present(BEGIN - 1, 0);
        for (int i = 0; i < 70_000; i++) {
            flags.present(BEGIN, 0xffff);
        }
        flags.present(BEGIN, 0);
        assertThat(flags.share(0x8000, BEGIN, 1)).isEqualTo(Reading.of(65_535 / 65_536.0));
    }

    @ParameterizedTest
    @CsvSource({"15, 1", "60, 4", "600, 40", "900, 60", "29, 1"})
    void windowsAreWholeSteps(int seconds, int steps) {
        assertThat(TimeStep.count(Duration.ofSeconds(seconds))).isEqualTo(steps);
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 0, -60, 901})
    void otherWindowsAreRefused(int seconds) {
        assertThatThrownBy(() -> TimeStep.count(Duration.ofSeconds(seconds)))
                .hasMessage("expected a window from 15 s to 900 s, but was " + seconds + " s");
    }
}
