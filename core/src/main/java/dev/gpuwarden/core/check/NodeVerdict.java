package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.health.Verdict;
import java.util.ArrayList;
import java.util.List;

/** The verdict on a node from its check results and faults. Pure. */
public final class NodeVerdict {

    private static final int MOST_REASONS = 100;

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
        return faults.stream().anyMatch(Fault::decides) ? Verdict.NOT_FIT : of(results);
    }

    public static List<Finding> findings(List<CheckResult> results) {
        return results.stream().flatMap(result -> result.findings().stream()).toList();
    }

    /** Returns the deciding findings and the fatal faults that may be acted on, of all agents; worst first. */
    public static List<Finding> reasons(List<CheckResult> results, List<Fault> faults) {
        List<Finding> all = new ArrayList<>(findings(results));
        for (Fault fault : faults) {
            // Findings of gpuwarden's own checks are in the list already.
            if (fault.decides() && !fault.cause().agent().equals(FindingEvents.AGENT)) {
                all.add(finding(fault));
            }
        }
        List<Finding> reasons = new ArrayList<>();
        for (Outcome outcome : List.of(Outcome.FAIL, Outcome.UNKNOWN)) {
            all.stream()
                    .filter(finding -> finding.outcome() == outcome)
                    .distinct()
                    .forEach(reasons::add);
        }
        return List.copyOf(reasons.subList(0, Math.min(reasons.size(), MOST_REASONS)));
    }

    private static Finding finding(Fault fault) {
        Entity entity = fault.key().entity();
        String code = fault.key().errorCode();
        String name = code.isEmpty() ? fault.key().checkName() : fault.key().checkName() + " " + code;
        return Finding.fail(
                "current-fault",
                entity.equals(Entity.WHOLE) ? Subject.NODE : Subject.of(entity),
                name + ": " + fault.cause().message(),
                "",
                fault.cause().action());
    }
}
