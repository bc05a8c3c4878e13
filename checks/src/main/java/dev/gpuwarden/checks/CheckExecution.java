package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.util.Text;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One run of one check. It bounds the findings and contains the check's failures. */
public final class CheckExecution {

    private static final System.Logger LOG = CheckLog.LOG;

    /** The bound on findings of one run; 64 GPUs with 18 links each have 1152 parts. */
    static final int MOST_FINDINGS = 2048;

    static final int MOST_TEXT = 4096;
    private static final int MOST_CODE = 200;
    private static final int MOST_EVIDENCE = 64;

    /** The codes of findings on the node as a whole that stand for results which a run did not give. */
    private static final Set<String> INCOMPLETE = Set.of("check-failed", "check-hung", "too-many-findings");

    private CheckExecution() {}

    /** Returns whether this finding stands for results that a run did not give, so that it concerns each part of the node. */
    public static boolean isIncomplete(Finding finding) {
        return finding.outcome() == Outcome.UNKNOWN
                && finding.subject().equals(Subject.NODE)
                && INCOMPLETE.contains(finding.code());
    }

    /** Runs the check and returns its result. Never throws; a failure becomes an UNKNOWN finding. */
    static CheckResult run(
            CheckRun run,
            NodeSnapshot node,
            HealthCheck check,
            CheckEnvironment environment,
            CounterHistory counters,
            boolean logFailure) {
        CheckInfo info = run.info();
        long start = System.nanoTime();
        List<Finding> findings;
        try {
            CheckEnvironment.Context context = environment.context(
                    node, counters, info.id(), check.load() != GpuLoad.NONE, run::report, run::prove);
            findings = tidied(check.run(context), context.pending());
        } catch (Throwable e) {
            // A check that others wrote may throw anything. A failure costs this run alone.
            if (logFailure) {
                LOG.log(Level.WARNING, "check failed, its result is UNKNOWN until it works again: " + info.id(), e);
            }
            findings = List.of(failed(info, e));
        }
        return CheckResult.of(
                info, run.since(), Duration.ofNanos(System.nanoTime() - start), with(run.proven(), findings));
    }

    private static Finding failed(CheckInfo info, Throwable e) {
        String message = e.getMessage() == null ? "" : ": " + e.getMessage();
        return Finding.unknown(
                "check-failed",
                Subject.NODE,
                Text.truncate(
                        "the check " + info.id() + " failed: " + e.getClass().getSimpleName() + message, MOST_TEXT),
                "this is a defect of the check: report it; see the daemon log for details");
    }

    /** @param proven findings that stood before the run hung */
    static CheckResult hung(CheckInfo info, Instant at, Duration took, List<Finding> proven) {
        Finding hung = Finding.unknown(
                "check-hung",
                Subject.NODE,
                "the check " + info.id() + " has not returned for " + took.toSeconds() + " s",
                "it does not run again before it returns; find out what it waits for");
        return CheckResult.of(info, at, took, with(proven, List.of(hung)));
    }

    /** Returns the findings of a run with those that it had proven: of each part the worse, and both texts where both are bad. */
    static List<Finding> with(List<Finding> proven, List<Finding> found) {
        if (proven.isEmpty()) {
            return found;
        }
        Map<Entity, Finding> byPart = new LinkedHashMap<>();
        found.forEach(finding -> byPart.put(part(finding.subject()), finding));
        tidied(proven, Set.of())
                .forEach(proof -> byPart.merge(part(proof.subject()), proof, (own, more) -> both(own, more)));
        return List.copyOf(byPart.values());
    }

    private static Finding both(Finding own, Finding proof) {
        boolean proofIsWorse = rank(proof) < rank(own);
        Finding worse = proofIsWorse ? proof : own;
        Finding other = proofIsWorse ? own : proof;
        if (other.outcome() == Outcome.PASS
                || other.outcome() == Outcome.SKIPPED
                || worse.message().contains(other.message())) {
            return worse;
        }
        return bounded(new Finding(
                worse.outcome(),
                worse.code(),
                worse.subject(),
                worse.message() + "; " + other.message(),
                worse.remedy(),
                worse.action(),
                worse.evidence()));
    }

    /**
     * Returns at most one finding for each part, the worst, with bounded texts. An UNKNOWN finding that only needs more
     * time becomes SKIPPED.
     *
     * @param pending labels of GPUs whose history does not cover the requested window yet
     */
    static List<Finding> tidied(List<Finding> found, Set<String> pending) {
        Map<Entity, Finding> byPart = new LinkedHashMap<>();
        for (Finding finding : found.size() <= MOST_FINDINGS ? found : found.subList(0, MOST_FINDINGS)) {
            Finding bounded = bounded(waits(finding, pending) ? needsTime(finding) : finding);
            byPart.merge(part(bounded.subject()), bounded, CheckExecution::worse);
        }
        List<Finding> tidied = new ArrayList<>(byPart.values());
        if (found.size() > MOST_FINDINGS) {
            tidied.add(Finding.unknown(
                    "too-many-findings",
                    Subject.NODE,
                    "expected at most " + MOST_FINDINGS + " findings, but there are " + found.size()
                            + "; the rest is left out",
                    ""));
        }
        return tidied;
    }

    private static boolean waits(Finding finding, Set<String> pending) {
        return finding.outcome() == Outcome.UNKNOWN
                && pending.contains(finding.subject().label());
    }

    private static Finding needsTime(Finding finding) {
        return Finding.skipped("needs-time", finding.subject(), finding.message());
    }

    private static Entity part(Subject subject) {
        return subject.entities().isEmpty() ? Entity.WHOLE : subject.entities().get(0);
    }

    private static Finding worse(Finding a, Finding b) {
        return rank(a) <= rank(b) ? a : b;
    }

    private static int rank(Finding finding) {
        return CheckResult.WORST_FIRST.indexOf(finding.outcome());
    }

    private static Finding bounded(Finding finding) {
        return new Finding(
                finding.outcome(),
                Text.truncate(finding.code(), MOST_CODE),
                FindingEvents.bounded(finding.subject()),
                Text.truncate(finding.message(), MOST_TEXT),
                Text.truncate(finding.remedy(), MOST_TEXT),
                finding.action(),
                finding.evidence().size() <= MOST_EVIDENCE
                        ? finding.evidence()
                        : finding.evidence().subList(0, MOST_EVIDENCE));
    }
}
