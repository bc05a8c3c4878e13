package dev.gpuwarden.checks.verify;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The runs of the checks with a load on one part since its repair. Each check has a pause of its own: one that failed gave work to the
 * GPU, and one that could not decide may be able to soon. A refusal before any work, such as a kubelet that does not answer, is no run:
 * it has no pause. One thread.
 */
final class LoadAttempts {

    /** The time until a GPU gets work again that did not pass with it: the shortest interval of these checks. */
    static final Duration AFTER_FAILURE = Duration.ofMinutes(10);

    /** The first pause after a run without a decision. It doubles with each such run in a row, up to that after a failure. */
    static final Duration AFTER_UNKNOWN = Duration.ofSeconds(15);

    private static final int MOST_DOUBLINGS = 6;

    /**
     * The last run of one check.
     *
     * @param result one finding, of the part
     * @param undecided number of runs in a row that could not decide
     * @param next time of the next run, in {@code System.nanoTime}; empty if the part has passed
     */
    private record Run(CheckResult result, int undecided, Optional<Long> next) {}

    private final Map<String, Run> runs = new LinkedHashMap<>();

    /** Returns the ids of the checks that must run now. */
    Set<String> due(Collection<CheckInfo> checks, long nanoTime) {
        return checks.stream()
                .map(CheckInfo::id)
                .filter(id -> isDue(runs.get(id), nanoTime))
                .collect(Collectors.toSet());
    }

    private static boolean isDue(@Nullable Run last, long nanoTime) {
        return last == null || last.next().filter(at -> nanoTime - at >= 0).isPresent();
    }

    /** Adds the results of a run for the part of this pending fault. */
    void ended(HealthEvent pending, Collection<CheckResult> results, long nanoTime) {
        for (CheckResult result : results) {
            Run last = runs.get(result.check().id());
            Finding finding = ofPart(pending, result);
            int undecided = finding.outcome() == Outcome.UNKNOWN ? (last == null ? 0 : last.undecided()) + 1 : 0;
            runs.put(
                    result.check().id(),
                    new Run(
                            CheckResult.of(result.check(), result.at(), result.took(), List.of(finding)),
                            undecided,
                            pause(finding, undecided).map(pause -> nanoTime + pause.toNanos())));
        }
    }

    /** Returns the worst finding of the part, an open one first. A run without one has proven nothing: it is UNKNOWN. */
    private static Finding ofPart(HealthEvent pending, CheckResult result) {
        return result.findings().stream()
                .filter(finding -> Verification.concerns(finding, pending))
                .min(Comparator.comparing((Finding finding) -> !Verification.isOpen(finding))
                        .thenComparing(finding -> CheckResult.WORST_FIRST.indexOf(finding.outcome())))
                .orElseGet(() -> Finding.unknown(
                        "no-result",
                        new Subject("the repaired part", pending.entities()),
                        "the run gave no result of this part",
                        "read the log of the daemon, and compare with 'gpuwarden check gpu-count gpu-state'"));
    }

    /** Returns the pause before the next run; empty if there is none. */
    private static Optional<Duration> pause(Finding finding, int undecided) {
        if (!Verification.isOpen(finding)) {
            return Optional.empty();
        }
        if (finding.outcome() == Outcome.FAIL) {
            return Optional.of(AFTER_FAILURE);
        }
        if (undecided == 0) {
            return Optional.of(Duration.ZERO);
        }
        Duration doubled = AFTER_UNKNOWN.multipliedBy(1L << Math.min(undecided - 1, MOST_DOUBLINGS));
        return Optional.of(doubled.compareTo(AFTER_FAILURE) < 0 ? doubled : AFTER_FAILURE);
    }

    /** Returns the last result of each check that has run. */
    List<CheckResult> results() {
        return runs.values().stream().map(Run::result).toList();
    }
}
