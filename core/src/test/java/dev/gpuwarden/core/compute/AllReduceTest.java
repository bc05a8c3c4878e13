package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Arithmetic of all-reduces. */
class AllReduceTest {

    @Test
    void busBandwidthCountsWhatEachLinkCarries() {
        assertThat(new AllReduceRate(1_000_000_000, 8, 0.01).busBandwidth()).isCloseTo(175, within(1e-9));
        assertThat(BusBandwidth.allReduceFactor(2)).isEqualTo(1);
        assertThat(BusBandwidth.allReduceFactor(1)).isZero();
    }

    @Test
    void smallSizesAreEvidenceOnlyIfTheyTakeLongerThanAStart() {
        assertThat(new AllReduceRate(1 << 20, 8, 1e-4).isEvidence(1 << 28)).isFalse();
        assertThat(new AllReduceRate(1 << 20, 8, 2e-3).isEvidence(1 << 28)).isTrue();
        assertThat(new AllReduceRate(1 << 28, 8, 1e-4).isEvidence(1 << 28)).isTrue();
        assertThat(new AllReduceRate(8, 2, 0).isPlausible()).isFalse();
        assertThat(new AllReduceRate(8, 2, Double.NaN).isPlausible()).isFalse();
    }

    @Test
    void sizesEndByTheLastOneOrByTheTimeOfOne() {
        AllReduceWork work = new AllReduceWork(8, 256, Duration.ofMillis(200), 10, Duration.ofSeconds(1));
        assertThat(work.endsAt(128, 0.1)).isFalse();
        assertThat(work.endsAt(256, 0.1)).isTrue();
        assertThat(work.endsAt(8, 0.2)).isTrue();
        assertThat(work.iterations(0.001)).isEqualTo(10);
        assertThat(work.iterations(0.05)).isEqualTo(4);
        assertThat(work.iterations(3)).isEqualTo(1);
    }

    @Test
    void sumsOfInputsAreThoseOfThePattern() {
        FloatBuffer sum = AllReducePattern.sum(3).asFloatBuffer();
        FloatBuffer[] inputs = IntStream.range(0, 3)
                .mapToObj(rank -> AllReducePattern.input(rank).asFloatBuffer())
                .toArray(FloatBuffer[]::new);
        for (int i = 0; i < AllReducePattern.PERIOD; i++) {
            assertThat(inputs[2].get(i) + inputs[0].get(i) + inputs[1].get(i)).isEqualTo(sum.get(i));
        }
        assertThat(inputs[0]).isNotEqualTo(inputs[1]);
        assertThat(AllReducePattern.sum(1).asFloatBuffer()).isEqualTo(inputs[0]);
    }

    @Test
    void firstSizeWithAWrongSumIsKept() {
        AllReduceSums none = AllReduceSums.NOT_COMPARED;
        AllReduceSums sums = none.and(8, 0).and(16, 3).and(32, 9);
        assertThat(sums).isEqualTo(new AllReduceSums(3, 2, 16, 3, new PlantedErrors(3, 0, Optional.empty())));
        assertThat(WrongResults.ofAllReduce("all-reduce", sums))
                .isEqualTo(ResultVerdict.wrong(
                        "all-reduce", 2, "2 of 3 sizes have wrong sums; the first, of 16 bytes, has 3 wrong elements"));
        assertThat(WrongResults.ofAllReduce("all-reduce", none.and(8, 0)).outcome())
                .isEqualTo(ResultVerdict.Outcome.RIGHT);
        assertThat(WrongResults.ofAllReduce("all-reduce", none).outcome()).isEqualTo(ResultVerdict.Outcome.UNDECIDED);
    }

    @Test
    void sumsWhoseComparisonMissedAPlantedErrorAreNotRight() {
        ResultVerdict verdict = WrongResults.ofAllReduce(
                "all-reduce", AllReduceSums.NOT_COMPARED.and(8, 0).andMissed("element 3"));
        assertThat(verdict.outcome()).isEqualTo(ResultVerdict.Outcome.BLIND);
        assertThat(verdict.text())
                .isEqualTo("all-reduce: the GPU's own comparison missed 1 of 2 planted errors; the first is element 3");
    }

    @Test
    void gpuWithTwoSlowPairsIsTheSuspect() {
        assertThat(SlowPairs.suspects(new double[] {100, 9, 9, 99}, 0.8)).containsExactly(2);
        assertThat(SlowPairs.suspects(new double[] {9, 100, 9}, 0.8)).containsExactly(0);
        assertThat(SlowPairs.suspects(new double[] {9, 9, 9, 99}, 0.8)).containsExactly(1, 2);
    }

    @Test
    void slowPathBetweenTwoGpusNamesBoth() {
        assertThat(SlowPairs.suspects(new double[] {100, 9, 99, 98}, 0.8)).containsExactly(1, 2);
        assertThat(SlowPairs.suspects(new double[] {100, 99, 99, 9}, 0.8)).containsExactly(0, 3);
    }

    @Test
    void pairsThatAreAllAlikeNameNone() {
        assertThat(SlowPairs.suspects(new double[] {3, 3.1, 2.9}, 0.8)).isEmpty();
        assertThat(SlowPairs.suspects(new double[] {0, 0, 0}, 0.8)).isEmpty();
    }
}
