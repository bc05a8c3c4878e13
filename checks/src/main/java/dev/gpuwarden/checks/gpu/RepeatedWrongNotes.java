package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.compute.RepeatedWrong;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Wrong results as parts of a finding: a fault only after they repeated, in one run or in several. The count of a GPU survives a restart of the
 * daemon, since a GPU that is rarely wrong is wrong in runs that are hours apart. It ends with the boot of the node.
 */
final class RepeatedWrongNotes {

    /** The fault of repeated wrong results. */
    record Fault(String code, String remedy, RecommendedAction action) {}

    private static final Fault COMPUTATION = new Fault(
            "wrong-result",
            "take the GPU out of service, run the check again, and run NVIDIA's field diagnostic",
            RecommendedAction.RUN_FIELDDIAG);

    /** A comparison of the GPU missed an error that the host had planted. */
    private static final String BLIND = "verifier-blind";

    private RepeatedWrongNotes() {}

    /** Adds a part if a verdict of this run is wrong, and keeps the count of the GPU in the notes of the check. */
    static void add(FindingBuilder builder, List<ResultVerdict> verdicts) {
        add(builder, verdicts, COMPUTATION);
    }

    /** Adds parts for the wrong verdicts alone, which stand before the run has ended. */
    static void addWrong(FindingBuilder builder, List<ResultVerdict> verdicts) {
        addWrong(builder, verdicts, COMPUTATION);
    }

    static void addWrong(FindingBuilder builder, List<ResultVerdict> verdicts, Fault fault) {
        add(builder, wrong(verdicts), fault);
    }

    static void add(FindingBuilder builder, List<ResultVerdict> verdicts, Fault fault) {
        List<ResultVerdict> wrong = wrong(verdicts);
        boolean repeated = counted(builder, verdicts, wrong).isFault();
        for (ResultVerdict verdict : wrong) {
            boolean blind = verdict.outcome() == Outcome.BLIND;
            if (repeated) {
                builder.fail(blind ? BLIND : fault.code(), verdict.text(), fault.remedy(), fault.action());
            } else if (blind) {
                builder.unknown(
                        BLIND + "-once",
                        verdict.text() + "; once is no fault yet, but the GPU's results prove nothing",
                        "run the check again; a second missed error is a fault");
            } else {
                builder.warn(
                        fault.code() + "-once",
                        verdict.text() + "; once is no fault yet",
                        "run the check again; a second wrong result is a fault");
            }
        }
    }

    /** Adds a part for a result that is there and proves nothing; nothing for another. */
    static void addUndecided(FindingBuilder builder, ResultVerdict verdict) {
        if (verdict.outcome() == Outcome.UNDECIDED) {
            builder.unknown("not-decided", verdict.text(), "run the check again when the node is idle");
        }
    }

    private static List<ResultVerdict> wrong(List<ResultVerdict> verdicts) {
        return verdicts.stream().filter(ResultVerdict::accuses).toList();
    }

    /**
     * Returns the count of the GPU. Each wrong result counts once, and so does a run without one, however often both are judged: the same
     * work that was judged before counts with the results that were added since.
     */
    private static RepeatedWrong counted(
            FindingBuilder builder, List<ResultVerdict> verdicts, List<ResultVerdict> wrong) {
        Map<String, Long> notes = builder.context().bootNotes();
        String gpu = builder.gpu().identity().selector();
        RepeatedWrong before =
                RepeatedWrong.of(notes.getOrDefault(gpu + " wrong", 0L), notes.getOrDefault(gpu + " right", 0L));
        RepeatedWrong after = before.after(fresh(builder.counted(), wrong.isEmpty() ? verdicts : wrong));
        if (!after.equals(before)) {
            notes.put(gpu + " wrong", (long) after.wrong());
            notes.put(gpu + " right", (long) after.rightInRow());
        }
        return after;
    }

    private static List<ResultVerdict> fresh(Map<String, Integer> counted, List<ResultVerdict> verdicts) {
        boolean first = counted.isEmpty();
        List<ResultVerdict> fresh = new ArrayList<>();
        for (ResultVerdict verdict : verdicts) {
            int results = verdict.accuses() ? Math.max(1, verdict.wrongRuns()) : 0;
            int before = counted.getOrDefault(verdict.gpu(), 0);
            if (results > before) {
                fresh.add(new ResultVerdict(verdict.gpu(), verdict.outcome(), results - before, verdict.text()));
            } else if (first && verdict.outcome() == Outcome.RIGHT) {
                fresh.add(verdict);
            }
            if (verdict.outcome() != Outcome.UNDECIDED) {
                counted.put(verdict.gpu(), Math.max(before, results));
            }
        }
        return fresh;
    }
}
