package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.compute.MemoryResult.PatternResult;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The decisions whether single GPUs' results are right, by their comparison with a closed form. Pure. */
public final class WrongResults {

    private WrongResults() {}

    /** Returns the verdict on a memory test. Wrong words outweigh a test that was stopped. */
    public static ResultVerdict ofMemory(String gpu, Reading<MemoryResult> reading) {
        if (reading instanceof Reading.Absent<MemoryResult> why) {
            return ResultVerdict.absent(gpu, why);
        }
        MemoryResult result = reading.asOptional().orElseThrow();
        List<PatternResult> wrong = result.patterns().stream()
                .filter(pattern -> pattern.wrong().isPresent())
                .toList();
        if (!wrong.isEmpty()) {
            PatternResult first = wrong.get(0);
            return ResultVerdict.wrong(
                    gpu,
                    wrong.size(),
                    "memory returns wrong words in " + wrong.size() + " of "
                            + result.patterns().size() + " patterns over " + result.bytes() + " bytes; "
                            + first.pattern().name().toLowerCase(Locale.ROOT) + ": "
                            + first.wrong().orElse(""));
        }
        PlantedErrors errors = result.verification().planted();
        return result.complete() || errors.missed() > 0
                ? ResultVerdict.notWrong(gpu, errors, result.bytes() + " bytes of memory hold each pattern")
                : ResultVerdict.undecided(gpu, "the memory test was stopped before its end");
    }

    /** Returns the verdict on a measurement of vectors. */
    public static ResultVerdict ofVectors(String gpu, Reading<VectorResult> reading) {
        if (reading instanceof Reading.Absent<VectorResult> why) {
            return ResultVerdict.absent(gpu, why);
        }
        VectorResult result = reading.asOptional().orElseThrow();
        Verification seen = result.verification();
        if (seen.hasWrong() || !result.digest().isRight()) {
            return ResultVerdict.wrong(
                    gpu, 1, seen.hasWrong() ? describe(seen) : result.digest().text());
        }
        return ResultVerdict.notWrong(gpu, seen.planted(), seen.elements() + " elements are right");
    }

    /** Returns the verdict on the sums of all-reduces. */
    public static ResultVerdict ofAllReduce(String gpu, AllReduceSums sums) {
        if (!sums.isCompared()) {
            return ResultVerdict.undecided(gpu, "the driver or the GPU is too old for the kernel that compares sums");
        }
        return sums.wrongSizes() == 0
                ? ResultVerdict.notWrong(gpu, sums.planted(), "the sums of " + sums.sizes() + " sizes are right")
                : ResultVerdict.wrong(
                        gpu,
                        sums.wrongSizes(),
                        sums.wrongSizes() + " of " + sums.sizes() + " sizes have wrong sums; the first, of "
                                + sums.bytes() + " bytes, has " + sums.wrong() + " wrong elements");
    }

    /** Returns the verdict on data that was copied. */
    public static ResultVerdict ofCopies(String what, CopiedData data) {
        return data.isRight()
                ? ResultVerdict.right(what, data.bytes() + " bytes are right")
                : ResultVerdict.wrong(
                        what,
                        1,
                        data.wrongWords() + " of " + data.bytes() / Long.BYTES + " words are wrong, the first at byte "
                                + data.first().orElse(0));
    }

    /**
     * Returns mismatches in words: "3 of 16384 elements are wrong, 3 of them by SM 17; element 7: expected 0x1, seen 0x3, written by SM 17".
     */
    static String describe(Verification seen) {
        Optional<String> sm =
                seen.worstSm().map(worst -> ", " + seen.wrongBySm().get(worst) + " of them by SM " + worst);
        Optional<String> first = seen.first().map(mismatch -> "; " + mismatch.text());
        return seen.wrong() + " of " + seen.elements() + " elements are wrong" + sm.orElse("") + first.orElse("");
    }
}
