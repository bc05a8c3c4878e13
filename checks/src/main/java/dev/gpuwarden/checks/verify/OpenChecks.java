package dev.gpuwarden.checks.verify;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.OpenVerification;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.util.Text;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The faults that name the open checks with a load on a GPU, each with the check as code. They stand beside the pending fault of
 * the GPU, and end with it. Only a check that fails has an action. Pure.
 */
final class OpenChecks {

    private static final int MOST_TEXT = 2048;

    private OpenChecks() {}

    /**
     * Returns the events after which the faults name exactly the open checks.
     *
     * @param faults the current ones
     * @param results of the checks with a load on GPUs
     */
    static List<HealthEvent> changes(
            HealthEvent pending, Collection<Fault> faults, List<CheckResult> results, Instant now) {
        List<HealthEvent> open = new ArrayList<>();
        for (CheckResult result : results) {
            result.findings().stream()
                    .filter(finding -> Verification.concerns(finding, pending) && Verification.isOpen(finding))
                    .map(finding -> event(pending, result, finding, now))
                    .forEach(open::add);
        }
        List<HealthEvent> named = named(faults).stream()
                .filter(event -> event.entities().equals(pending.entities()))
                .toList();
        List<HealthEvent> changes = new ArrayList<>();
        named.stream()
                .filter(event -> open.stream().noneMatch(seen -> same(event, seen)))
                .map(event -> Verification.end(event, "not open any more", now))
                .forEach(changes::add);
        open.stream()
                .filter(event -> named.stream().noneMatch(before -> same(before, event)))
                .forEach(changes::add);
        return changes;
    }

    /** Returns the events that end the faults whose part is not pending any more. */
    static List<HealthEvent> withoutPart(Collection<HealthEvent> pending, Collection<Fault> faults, Instant now) {
        return named(faults).stream()
                .filter(event ->
                        pending.stream().noneMatch(cause -> cause.entities().equals(event.entities())))
                .map(event -> Verification.end(event, "its part waits for no verification", now))
                .toList();
    }

    private static List<HealthEvent> named(Collection<Fault> faults) {
        return faults.stream()
                .filter(Verification::isPending)
                .map(Fault::cause)
                .filter(event -> !Verification.isCause(event))
                .distinct()
                .toList();
    }

    /** Measured values in a message differ from run to run; its beginning names check and code. */
    private static boolean same(HealthEvent a, HealthEvent b) {
        return a.errorCodes().equals(b.errorCodes()) && beginning(a).equals(beginning(b));
    }

    private static String beginning(HealthEvent event) {
        return event.message().split(":", 2)[0];
    }

    private static HealthEvent event(HealthEvent pending, CheckResult result, Finding finding, Instant now) {
        boolean failed = finding.outcome() == Outcome.FAIL;
        return HealthEvent.of(FindingEvents.AGENT, pending.componentClass(), Verification.EVENT)
                .nodeName(pending.nodeName())
                .fatal(failed)
                .action(failed ? finding.action() : RecommendedAction.NONE)
                .drain(new Overrides(false, true))
                .errorCodes(List.of(result.check().id()))
                .entities(pending.entities())
                .metadata(OpenVerification.metadata(finding.code()))
                .message(Text.truncate(
                        Verification.name(result.check(), finding) + " has not passed since the boot: "
                                + finding.message()
                                + (finding.remedy().isEmpty() ? "" : "; " + finding.remedy()),
                        MOST_TEXT))
                .generated(now)
                .build();
    }
}
