package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Verdict;
import java.util.List;

/** The verdict on a node from its check results and faults. Pure. */
public final class NodeVerdict {

    private NodeVerdict() {}

    /** Returns the verdict from check results alone. */
    public static Verdict of(List<CheckResult> results) {
        return Verdict.of(findings(results));
    }

    /**
     * Returns the verdict from the last check results and all current faults, whatever their source. A fault outweighs
     * a pass: it may come from the kernel log, or wait for proof.
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
