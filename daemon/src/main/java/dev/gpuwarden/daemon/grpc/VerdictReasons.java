package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.util.ArrayList;
import java.util.List;

/** The reasons of the node's verdict. Pure. */
final class VerdictReasons {

    private static final int MAX = 100;

    private VerdictReasons() {}

    /** Returns the deciding findings and the fatal faults that may be acted on, of all agents; worst first. */
    static List<Finding> of(List<CheckResult> results, List<Fault> faults) {
        List<Finding> all = new ArrayList<>(NodeVerdict.findings(results));
        for (Fault fault : faults) {
            // Findings of gpuwarden's own checks are in the list already.
            if (fault.cause().fatal()
                    && fault.cause().strategy().actedOn()
                    && !fault.cause().agent().equals(FindingEvents.AGENT)) {
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
        return List.copyOf(reasons.subList(0, Math.min(reasons.size(), MAX)));
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
