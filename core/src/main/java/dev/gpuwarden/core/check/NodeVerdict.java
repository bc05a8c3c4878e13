package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.ActionText;
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
     * a pass: it may come from the kernel log, or wait for proof. A fatal fault without proof leaves the node undecided.
     */
    public static Verdict of(List<CheckResult> results, List<Fault> faults) {
        if (faults.stream().anyMatch(Fault::decides)) {
            return Verdict.NOT_FIT;
        }
        Verdict checked = of(results);
        return checked == Verdict.FIT && faults.stream().anyMatch(Fault::unproven) ? Verdict.UNDECIDED : checked;
    }

    public static List<Finding> findings(List<CheckResult> results) {
        return results.stream().flatMap(result -> result.findings().stream()).toList();
    }

    /** Returns the deciding findings and the fatal faults that may be acted on or lack proof, of all agents; worst first. */
    public static List<Finding> reasons(List<CheckResult> results, List<Fault> faults) {
        List<Finding> all = new ArrayList<>(findings(results));
        for (Fault fault : faults) {
            // Findings of gpuwarden's own checks are in the list already.
            if (fault.decides() && !fault.cause().agent().equals(FindingEvents.AGENT)) {
                all.add(finding(fault));
            } else if (fault.unproven()) {
                all.add(Finding.unknown(
                        "unproven-fault", subject(fault), text(fault), ActionText.advice(fault.cause())));
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
        return Finding.fail(
                "current-fault", subject(fault), text(fault), "", fault.cause().action());
    }

    private static Subject subject(Fault fault) {
        Entity entity = fault.key().entity();
        return entity.equals(Entity.WHOLE) ? Subject.NODE : Subject.of(entity);
    }

    private static String text(Fault fault) {
        String code = fault.key().errorCode();
        String name = code.isEmpty() ? fault.key().checkName() : fault.key().checkName() + " " + code;
        return name + ": " + fault.cause().message();
    }
}
