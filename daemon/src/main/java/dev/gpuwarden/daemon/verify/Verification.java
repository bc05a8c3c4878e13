package dev.gpuwarden.daemon.verify;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The fault of a part whose earlier fault ended with a boot or a reset, and the verdict of the checks that ends it. It requests no action: a
 * check that fails raises a fault of its own, with the action. Pure.
 */
public final class Verification {

    /** The check's name in events. */
    public static final String EVENT = "RepairVerification";

    /** The repair that ended a fault. Names in lower case are the error codes of pending faults. */
    public enum Repair {
        BOOT,
        RESET;

        String code() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The codes of SKIPPED findings that another run of the check can change. */
    private static final Set<String> TEMPORARY = Set.of(
            "not-read-yet",
            "gpu-held",
            "holder-unknown",
            "gpu-released",
            "gpu-busy",
            "gpu-in-exclusive-use",
            "gpu-memory-full",
            "check-ended",
            "no-record");

    /**
     * The verdict of the checks on one part.
     *
     * @param open the checks that have not passed, each with its reason; empty if the part is verified
     * @param skipped the checks that do not apply to the part
     */
    public record Verdict(int passed, List<String> open, List<String> skipped) {
        public String text() {
            return passed + " checks passed since the repair"
                    + (skipped.isEmpty() ? "" : "; skipped: " + String.join(", ", skipped));
        }
    }

    private Verification() {}

    /**
     * Returns the events that keep parts faulty until they are verified.
     *
     * @param ended the causes of the faults that the repair ends
     */
    public static List<HealthEvent> after(Repair repair, Collection<HealthEvent> ended, Instant now) {
        Map<List<Object>, HealthEvent> events = new LinkedHashMap<>();
        for (HealthEvent cause : ended) {
            events.putIfAbsent(
                    List.of(cause.componentClass(), cause.entities()),
                    HealthEvent.of(FindingEvents.AGENT, cause.componentClass(), EVENT)
                            .nodeName(cause.nodeName())
                            .fatal(true)
                            .action(RecommendedAction.NONE)
                            // Its pods left before the repair, and those on other GPUs may stay.
                            .drain(new Overrides(false, true))
                            .errorCodes(List.of(repair.code()))
                            .entities(cause.entities())
                            .message("its checks have not passed since the " + repair.code() + " that ended "
                                    + cause.checkName()
                                    + cause.errorCodes().stream()
                                            .findFirst()
                                            .map(code -> " " + code)
                                            .orElse(""))
                            .generated(now)
                            .build());
        }
        return List.copyOf(events.values());
    }

    /** Returns true for a fault of this class. */
    public static boolean isPending(Fault fault) {
        return fault.key().agent().equals(FindingEvents.AGENT)
                && fault.key().checkName().equals(EVENT);
    }

    /**
     * Returns the verdict on the part of a pending fault.
     *
     * @param checks all checks that must have run
     * @param results their results since the repair
     */
    public static Verdict verdict(HealthEvent pending, List<CheckInfo> checks, List<CheckResult> results) {
        List<String> open = new ArrayList<>();
        List<String> skipped = new ArrayList<>();
        int passed = 0;
        for (CheckInfo check : checks) {
            if (results.stream().noneMatch(result -> result.check().id().equals(check.id()))) {
                open.add(check.id() + " (has not run)");
            }
        }
        for (CheckResult result : results) {
            for (Finding finding : result.findings()) {
                if (!concerns(finding, pending)) {
                    continue;
                }
                Outcome outcome = finding.outcome();
                String name = result.check().id() + " (" + finding.code() + ")";
                if (outcome == Outcome.PASS || outcome == Outcome.WARN) {
                    passed++;
                } else if (outcome == Outcome.SKIPPED && !TEMPORARY.contains(finding.code())) {
                    skipped.add(name);
                } else {
                    open.add(name);
                }
            }
        }
        return new Verdict(passed, open, skipped);
    }

    /**
     * Returns whether a repair ends this fault of a check. Its next runs raise it again where the part is still bad: some runs are hours
     * apart, and none is lost, because the pending fault has all checks run at the same time.
     */
    public static boolean ends(Repair repair, HealthEvent cause) {
        return cause.agent().equals(FindingEvents.AGENT)
                && !cause.checkName().equals(EVENT)
                && switch (cause.action()) {
                    case COMPONENT_RESET -> true;
                    case RESTART_VM, RESTART_BM -> repair == Repair.BOOT;
                    case NONE, CONTACT_SUPPORT, RUN_FIELDDIAG, REPLACE_VM, RUN_DCGMEUD, CUSTOM, REMEDIATE, UNKNOWN ->
                        false;
                };
    }

    /** Returns the event that ends a fault, pending or not. */
    public static HealthEvent end(HealthEvent cause, String message, Instant now) {
        return HealthEvent.of(cause.agent(), cause.componentClass(), cause.checkName())
                .nodeName(cause.nodeName())
                .healthy(true)
                .errorCodes(cause.errorCodes())
                .entities(cause.entities())
                .message(message)
                .generated(now)
                .build();
    }

    private static boolean concerns(Finding finding, HealthEvent pending) {
        List<Entity> parts = finding.subject().entities();
        return pending.entities().isEmpty()
                ? parts.isEmpty()
                : parts.stream()
                        .map(Entity::canonical)
                        .anyMatch(part -> pending.entities().stream()
                                .anyMatch(entity -> entity.canonical().equals(part)));
    }
}
