package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Verdict;
import java.util.List;

/** The verdict over a node from all that is known of it. Pure. */
public final class NodeVerdict {

    private NodeVerdict() {}

    /** From what checks just saw. */
    public static Verdict of(List<CheckResult> results) {
        return Verdict.of(findings(results));
    }

    /**
     * From what checks saw last and the faults that are current, whoever found them. A fault outweighs a good look: it may be
     * of the kernel log, or wait for proof.
     */
    public static Verdict of(List<CheckResult> results, List<Fault> faults) {
        boolean fatal = faults.stream()
                .anyMatch(fault ->
                        fault.cause().fatal() && fault.cause().strategy().actedOn());
        return fatal ? Verdict.NOT_FIT : of(results);
    }

    public static List<Finding> findings(List<CheckResult> results) {
        return results.stream().flatMap(result -> result.findings().stream()).toList();
    }
}
