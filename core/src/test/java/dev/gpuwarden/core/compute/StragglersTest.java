package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.StragglerVerdict.Outcome;
import dev.gpuwarden.core.compute.Stragglers.Limits;
import dev.gpuwarden.core.compute.Stragglers.Sample;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import org.junit.jupiter.api.Test;

class StragglersTest {

    private static final Limits LIMITS = new Limits(0.9, 0.8, 3);

    private static Sample sample(String gpu, String board, double rate, Double... history) {
        EqualBoard equal = new EqualBoard(board, Reading.of(false), Reading.of(700_000L), Reading.of(true));
        return new Sample(gpu, equal, Reading.of(rate), List.of(history));
    }

    private static List<Outcome> outcomes(Sample... samples) {
        return Stragglers.judge(List.of(samples), LIMITS, "TFLOP/s").stream()
                .map(StragglerVerdict::outcome)
                .toList();
    }

    @Test
    void theOneThatFallsBehindItsSiblingsIsSlow() {
        List<StragglerVerdict> verdicts = Stragglers.judge(
                List.of(
                        sample("a", "H100", 50),
                        sample("b", "H100", 44),
                        sample("c", "H100", 51),
                        sample("d", "H100", 49)),
                LIMITS,
                "TFLOP/s");
        assertThat(verdicts)
                .extracting(StragglerVerdict::outcome)
                .containsExactly(Outcome.EVEN, Outcome.SLOW, Outcome.EVEN, Outcome.EVEN);
        assertThat(verdicts.get(1).text())
                .isEqualTo("b: 44.0 TFLOP/s; 88.0 % of the median of 3 equal GPUs (50.0 TFLOP/s; at least 90.0 %); "
                        + "only 0 of 3 earlier rates");
    }

    @Test
    void otherBoardsAreNotCompared() {
        assertThat(outcomes(sample("a", "H100", 50), sample("b", "T4", 5)))
                .containsExactly(Outcome.UNDECIDED, Outcome.UNDECIDED);
    }

    @Test
    void theLowerOneOfTwoIsSlow() {
        assertThat(outcomes(sample("a", "H100", 50), sample("b", "H100", 40)))
                .containsExactly(Outcome.EVEN, Outcome.SLOW);
    }

    @Test
    void withoutSiblingsTheHistoryAloneDecidesAndTheTextNamesThat() {
        List<StragglerVerdict> verdicts =
                Stragglers.judge(List.of(sample("a", "H100", 39, 50.0, 51.0, 52.0, 49.0)), LIMITS, "TFLOP/s");
        assertThat(verdicts.get(0).outcome()).isEqualTo(Outcome.SLOW);
        assertThat(verdicts.get(0).text())
                .isEqualTo("a: 39.0 TFLOP/s; no equal GPU to compare with, so its history alone decides; "
                        + "77.2 % of the median of its 4 earlier rates (50.5 TFLOP/s; at least 80.0 %)");
        assertThat(outcomes(sample("a", "H100", 41, 50.0, 50.0, 50.0))).containsExactly(Outcome.EVEN);
    }

    @Test
    void allThatAreEquallySlowShowInTheirHistory() {
        Double[] before = {50.0, 50.0, 50.0};
        assertThat(outcomes(sample("a", "H100", 30, before), sample("b", "H100", 30, before)))
                .containsExactly(Outcome.SLOW, Outcome.SLOW);
    }

    @Test
    void aGpuWithoutRateIsUndecidedAndNoSibling() {
        Sample absent = new Sample("a", sample("a", "H100", 1).board(), Reading.absent(Absence.STALE), List.of());
        List<StragglerVerdict> verdicts = Stragglers.judge(List.of(absent, sample("b", "H100", 50)), LIMITS, "TFLOP/s");
        assertThat(verdicts).extracting(StragglerVerdict::outcome).containsOnly(Outcome.UNDECIDED);
        assertThat(verdicts.get(1).text()).contains("no equal GPU to compare with");
    }
}
