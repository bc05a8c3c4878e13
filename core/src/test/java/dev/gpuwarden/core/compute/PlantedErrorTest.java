package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.MemoryResult.PatternResult;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The result that a comparison reports while the host has made an element wrong, and the verdict that follows. */
class PlantedErrorTest {

    private static final SplittableRandom RANDOM = new SplittableRandom(3);

    private static Verification reported(Mismatch... mismatches) {
        Map<Integer, Long> bySm = new TreeMap<>();
        for (Mismatch mismatch : mismatches) {
            bySm.merge(mismatch.writerSm().orElse(0), 1L, Long::sum);
        }
        OptionalLong first =
                List.of(mismatches).stream().mapToLong(Mismatch::index).min();
        return new Verification(100, mismatches.length, first, List.of(mismatches), new TreeMap<>(bySm));
    }

    private static Mismatch mismatch(long index, long expected, long seen) {
        return new Mismatch(index, expected, seen, OptionalInt.of(2), 1);
    }

    private static Outcome outcome(Verification verification, Digest seen) {
        HostDigest digest = new HostDigest(0, 1, Digest.NOTHING, seen);
        return WrongResults.ofVectors("DAXPY", Reading.of(new VectorResult(1, verification, digest)))
                .outcome();
    }

    private static Outcome outcome(Verification verification) {
        return outcome(verification, Digest.NOTHING);
    }

    @Test
    void anErrorThatIsFoundDoesNotCount() {
        PlantedError error = new PlantedError(5, 8, 8, 9);
        Verification seen = reported(mismatch(5, 8, 9)).without(error);
        assertThat(seen.wrong()).isZero();
        assertThat(seen.kept()).isEmpty();
        assertThat(seen.wrongBySm()).isEmpty();
        assertThat(seen.firstIndex()).isEmpty();
        assertThat(seen.planted()).isEqualTo(PlantedErrors.FOUND);
        assertThat(outcome(seen)).isEqualTo(Outcome.RIGHT);
    }

    @Test
    void otherWrongElementsStay() {
        PlantedError error = new PlantedError(5, 8, 8, 9);
        Verification seen = reported(mismatch(5, 8, 9), mismatch(7, 1, 3)).without(error);
        assertThat(seen)
                .isEqualTo(new Verification(
                        100,
                        1,
                        OptionalLong.of(7),
                        List.of(mismatch(7, 1, 3)),
                        new TreeMap<>(Map.of(2, 1L)),
                        PlantedErrors.FOUND));
        assertThat(outcome(seen)).isEqualTo(Outcome.WRONG);
    }

    @Test
    void anErrorThatIsMissedIsAVerdictOfItsOwn() {
        PlantedError error = new PlantedError(5, 8, 8, 9);
        assertThat(outcome(reported().without(error))).isEqualTo(Outcome.BLIND);
        Verification elsewhere = reported(mismatch(6, 8, 9)).without(error);
        assertThat(elsewhere.planted().missed()).isEqualTo(1);
        Verification otherBits = reported(mismatch(5, 8, 10)).without(error);
        assertThat(otherBits.planted().firstMissed())
                .contains("element 5, which the host made 0x9 in place of 0x8 (reported as element 5: expected 0x8,"
                        + " seen 0xa, written by SM 2)");
    }

    @Test
    void aComparisonWithoutAnErrorProvesNothing() {
        assertThat(outcome(reported())).isEqualTo(Outcome.UNDECIDED);
    }

    @Test
    void anElementThatTheHostReadsAsWrongCounts() {
        PlantedError error = PlantedError.of(5, 8, 12, 64, RANDOM);
        assertThat(error.isWritten()).isFalse();
        Verification missed = reported().without(error);
        assertThat(missed.wrong()).isEqualTo(1);
        assertThat(missed.planted().missed()).isEqualTo(1);
        assertThat(WrongResults.describe(missed))
                .isEqualTo("1 of 100 elements are wrong; element 5: expected 0x8, seen 0xc, read by the host");
        assertThat(outcome(missed)).isEqualTo(Outcome.WRONG);
        assertThat(reported(mismatch(5, 8, 12)).without(error).wrong()).isEqualTo(1);
    }

    /** A report keeps 16 mismatches, and the planted one may be none of them. */
    @Test
    void aFullReportIsNotBlind() {
        List<Mismatch> kept = new ArrayList<>();
        for (int i = 20; i < 36; i++) {
            kept.add(mismatch(i, 1, 3));
        }
        Verification full = new Verification(100, 18, OptionalLong.of(5), kept, new TreeMap<>(Map.of(2, 18L)))
                .without(new PlantedError(5, 8, 8, 9));
        assertThat(full.wrong()).isEqualTo(17);
        assertThat(full.planted().missed()).isZero();
    }

    @Test
    void aDigestThatDiffersFromTheHostsIsWrong() {
        Verification found = reported(mismatch(5, 8, 9)).without(new PlantedError(5, 8, 8, 9));
        assertThat(outcome(found, new Digest(1, 1))).isEqualTo(Outcome.WRONG);
        PatternResult pattern = new PatternResult(
                MemoryPattern.RANDOM,
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                found,
                Optional.of(new HostDigest(0, 4, Digest.NOTHING, new Digest(1, 1))));
        ResultVerdict verdict =
                WrongResults.ofMemory("memory", Reading.of(new MemoryResult(32, 64, true, List.of(pattern))));
        assertThat(verdict.outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdict.text()).contains("random: the digest of elements 0 to 3 is 0000");
    }

    @Test
    void aMissedErrorIsKeptByAStoppedTest() {
        PatternResult pattern = new PatternResult(
                MemoryPattern.RANDOM,
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                reported().without(new PlantedError(5, 8, 8, 9)),
                Optional.empty());
        assertThat(WrongResults.ofMemory("memory", Reading.of(new MemoryResult(32, 64, false, List.of(pattern))))
                        .outcome())
                .isEqualTo(Outcome.BLIND);
    }

    @Test
    void placesAreTheFirstTheLastAndAllOthers() {
        Set<Long> places = new TreeSet<>();
        for (int i = 0; i < 2000; i++) {
            places.add(PlantedError.place(40, 8, RANDOM));
            PlantedError error = PlantedError.of(0, 7, 7, 8, RANDOM);
            assertThat(Long.bitCount(error.during() ^ 7)).isEqualTo(1);
            assertThat(error.during()).isBetween(0L, 255L);
        }
        assertThat(places).hasSize(40).startsWith(0L).endsWith(39L);
        assertThat(PlantedError.place(1, 8, RANDOM)).isZero();
    }

    @Test
    void cellsAreThoseOfTheDigest() {
        ExpectedProduct product = ExpectedProduct.of(ProductKind.FP64, 128, 7);
        assertThat(ExpectedElements.digest(product::cell, 0, 128 * 128))
                .isEqualTo(ExpectedProduct.digest(ProductKind.FP64, 128, 7));
    }
}
