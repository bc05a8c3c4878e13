package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.EqualWork.Part;
import dev.gpuwarden.core.compute.ProductResult.Round;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EqualWorkTest {

    private static final EqualBoard BOARD =
            new EqualBoard("H100", Reading.of(false), Reading.of(700_000L), Reading.of(true));
    private static final Digest RIGHT = new Digest(1, 2);
    private static final Digest OTHER = new Digest(3, 4);
    private static final Verification CLEAN =
            new Verification(100, 0, OptionalLong.empty(), List.of(), new TreeMap<>(), PlantedErrors.FOUND);
    private static final Verification WRONG = new Verification(
            100,
            1,
            OptionalLong.of(7),
            List.of(new Mismatch(7, 1, 3, OptionalInt.of(17), 2)),
            new TreeMap<>(Map.of(17, 1L)));

    private static Part part(String gpu, Round... rounds) {
        return new Part(gpu, BOARD, Reading.of(new ProductResult(1e12, List.of(rounds))));
    }

    private static Round round(Digest digest, Verification verification) {
        return new Round(1e12, digest, verification);
    }

    private static List<Outcome> outcomes(Optional<Digest> expected, Part... parts) {
        return EqualWork.judge(List.of(parts), expected).stream()
                .map(ResultVerdict::outcome)
                .toList();
    }

    @Test
    void aWrongElementNamesGpuRoundSmAndBits() {
        ResultVerdict verdict = EqualWork.judge(
                        List.of(part("GPU-a", round(RIGHT, CLEAN), round(OTHER, WRONG))), Optional.of(RIGHT))
                .get(0);
        assertThat(verdict.outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdict.wrongRuns()).isEqualTo(1);
        assertThat(verdict.text())
                .isEqualTo("GPU-a: round 2 of 2: 1 of 100 elements are wrong, 1 of them by SM 17; "
                        + "element 7: expected 0x1, seen 0x3, written by SM 17");
    }

    @Test
    void theClosedFormDecidesBetweenTwoGpusThatBothFoundNothing() {
        assertThat(outcomes(Optional.of(RIGHT), part("a", round(RIGHT, CLEAN)), part("b", round(OTHER, CLEAN))))
                .containsExactly(Outcome.RIGHT, Outcome.WRONG);
    }

    @Test
    void withoutAClosedFormTwoGpusThatDifferAreUndecided() {
        assertThat(outcomes(Optional.empty(), part("a", round(RIGHT, CLEAN)), part("b", round(OTHER, CLEAN))))
                .containsExactly(Outcome.UNDECIDED, Outcome.UNDECIDED);
    }

    @Test
    void withoutAClosedFormTheMajorityOfThreeDecides() {
        assertThat(outcomes(
                        Optional.empty(),
                        part("a", round(RIGHT, CLEAN)),
                        part("b", round(OTHER, CLEAN)),
                        part("c", round(RIGHT, CLEAN))))
                .containsExactly(Outcome.RIGHT, Outcome.WRONG, Outcome.RIGHT);
    }

    @Test
    void onlyEqualBoardsVote() {
        EqualBoard mig = new EqualBoard("H100", Reading.of(true), Reading.of(700_000L), Reading.of(true));
        List<Part> parts = new ArrayList<>(List.of(part("a", round(RIGHT, CLEAN))));
        Stream.of("b", "c", "d")
                .map(gpu -> new Part(gpu, mig, part(gpu, round(OTHER, CLEAN)).result()))
                .forEach(parts::add);
        assertThat(EqualWork.judge(parts, Optional.empty()))
                .extracting(ResultVerdict::outcome)
                .containsOnly(Outcome.RIGHT);
    }

    @Test
    void aGpuWhoseRoundsDifferHasNoVoteAndIsWrong() {
        Part unsteady = part("b", round(RIGHT, CLEAN), round(OTHER, CLEAN));
        assertThat(outcomes(Optional.empty(), part("a", round(RIGHT, CLEAN)), unsteady, part("c", round(RIGHT, CLEAN))))
                .containsExactly(Outcome.RIGHT, Outcome.WRONG, Outcome.RIGHT);
    }

    @Test
    void aRightProductWithAWrongComparisonIsAWrongGpu() {
        ResultVerdict verdict = EqualWork.judge(List.of(part("a", round(RIGHT, WRONG))), Optional.of(RIGHT))
                .get(0);
        assertThat(verdict.outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdict.text()).endsWith("so the GPU's comparison is wrong");
    }

    @Test
    void aGpuWithoutResultIsUndecided() {
        Part hangs = new Part("a", BOARD, Reading.absent(Absence.STALE, 0, "no answer"));
        ResultVerdict verdict =
                EqualWork.judge(List.of(hangs), Optional.of(RIGHT)).get(0);
        assertThat(verdict.outcome()).isEqualTo(Outcome.UNDECIDED);
        assertThat(verdict.text()).startsWith("a: no result: no answer");
    }

    @Test
    void oneWrongResultIsNoFaultAndTwoAre() {
        ResultVerdict wrong = ResultVerdict.wrong("a", 1, "");
        ResultVerdict right = ResultVerdict.right("a", "");
        RepeatedWrong once = RepeatedWrong.NONE.after(List.of(right, wrong));
        assertThat(once.isFault()).isFalse();
        assertThat(once.after(List.of(right))
                        .after(List.of(ResultVerdict.undecided("a", "")))
                        .after(List.of(wrong, right))
                        .isFault())
                .isTrue();
        assertThat(RepeatedWrong.NONE.after(List.of(wrong, wrong)).isFault()).isTrue();
        assertThat(RepeatedWrong.NONE
                        .after(List.of(ResultVerdict.wrong("a", 2, "")))
                        .isFault())
                .isTrue();
    }

    @Test
    void aWrongResultIsForgottenAfterManyRightRuns() {
        ResultVerdict right = ResultVerdict.right("a", "");
        // gpumem has so many verdicts in a run.
        List<ResultVerdict> run = List.of(right, right, right);
        RepeatedWrong state = RepeatedWrong.NONE.after(List.of(ResultVerdict.wrong("a", 5, "")));
        for (int i = 1; i < RepeatedWrong.FORGOTTEN; i++) {
            state = state.after(run);
        }
        assertThat(state.isFault()).isTrue();
        assertThat(state.after(run)).isEqualTo(RepeatedWrong.NONE);
    }

    @Test
    void aStateFromElsewhereIsBroughtIntoRange() {
        assertThat(RepeatedWrong.of(Long.MAX_VALUE, Long.MAX_VALUE)
                        .after(List.of(ResultVerdict.wrong("a", 1, "")))
                        .isFault())
                .isTrue();
        assertThat(RepeatedWrong.of(Long.MIN_VALUE, -1)).isEqualTo(RepeatedWrong.NONE);
    }
}
