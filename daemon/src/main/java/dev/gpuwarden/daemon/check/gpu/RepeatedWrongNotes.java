package dev.gpuwarden.daemon.check.gpu;

import dev.gpuwarden.core.compute.RepeatedWrong;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;
import java.util.Map;

/** Wrong results as parts of a finding: a fault only after they repeated, in one run or in several runs of a daemon. */
final class RepeatedWrongNotes {

    /** The fault of repeated wrong results. */
    record Fault(String code, String remedy, RecommendedAction action) {}

    private static final Fault COMPUTATION = new Fault(
            "wrong-result",
            "take the GPU out of service, run the check again, and run NVIDIA's field diagnostic",
            RecommendedAction.RUN_FIELDDIAG);

    private RepeatedWrongNotes() {}

    /** Adds a part if a verdict of this run is wrong, and keeps the count of the GPU in the notes of the check. */
    static void add(FindingBuilder builder, List<ResultVerdict> verdicts) {
        add(builder, verdicts, COMPUTATION);
    }

    static void add(FindingBuilder builder, List<ResultVerdict> verdicts, Fault fault) {
        Map<String, Long> notes = builder.context().notes();
        String gpu = builder.gpu().identity().selector();
        RepeatedWrong repeated = new RepeatedWrong(
                notes.getOrDefault(gpu + " wrong", 0L).intValue(),
                notes.getOrDefault(gpu + " right", 0L).intValue());
        for (ResultVerdict verdict : verdicts) {
            repeated = repeated.after(verdict);
        }
        notes.put(gpu + " wrong", (long) repeated.wrong());
        notes.put(gpu + " right", (long) repeated.rightInRow());
        for (ResultVerdict verdict : verdicts) {
            if (verdict.outcome() == Outcome.WRONG && repeated.isFault()) {
                builder.fail(fault.code(), verdict.text(), fault.remedy(), fault.action());
            } else if (verdict.outcome() == Outcome.WRONG) {
                builder.warn(
                        fault.code() + "-once",
                        verdict.text() + "; once is no fault yet",
                        "run the check again; a second wrong result is a fault");
            }
        }
    }
}
