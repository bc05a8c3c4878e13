package dev.gpuwarden.checks.verify;

import dev.gpuwarden.checks.CheckExecution;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.OpenVerification;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The fault of a part whose earlier fault ended with a boot or a reset, and the verdict of the checks that ends it. It requests no action: a
 * check that fails raises a fault of its own, with the action. Pure.
 */
public final class Verification {

    /** The check's name in events. */
    public static final String EVENT = OpenVerification.CHECK;

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
            "gpu-in-check",
            "crashed-before",
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

    /** Returns true for a fault of this class, and for one that names an open check of its part. */
    public static boolean isPending(Fault fault) {
        return fault.key().agent().equals(FindingEvents.AGENT)
                && fault.key().checkName().equals(EVENT);
    }

    /** Returns what pending faults wait for, for operators: the checks that are open, or the parts before the first run of checks. */
    public static String text(Collection<Fault> pending) {
        Map<Boolean, Set<String>> texts = pending.stream()
                .map(Fault::cause)
                .collect(Collectors.partitioningBy(
                        Verification::isCause,
                        Collectors.mapping(HealthEvent::message, Collectors.toCollection(LinkedHashSet::new))));
        Set<String> open = texts.getOrDefault(false, Set.of());
        return String.join("; ", open.isEmpty() ? texts.getOrDefault(true, Set.of()) : open);
    }

    /** Returns true for an event of {@link #after}. */
    static boolean isCause(HealthEvent event) {
        return event.checkName().equals(EVENT)
                && Arrays.stream(Repair.values())
                        .anyMatch(repair -> event.errorCodes().contains(repair.code()));
    }

    /** Returns true for the cause of a pending fault whose part must compute right: a GPU after a boot. A reset includes that. */
    static boolean mustCompute(HealthEvent pending) {
        return pending.errorCodes().contains(Repair.BOOT.code())
                && pending.entities().stream().anyMatch(Entity::namesGpu);
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
                String name = name(result.check(), finding);
                if (isOpen(finding)) {
                    open.add(name);
                } else if (finding.outcome() == Outcome.SKIPPED) {
                    skipped.add(name);
                } else {
                    passed++;
                }
            }
        }
        return new Verdict(passed, open, skipped);
    }

    /** Returns whether the check must run again: it has failed, or another run can have another result. */
    static boolean isOpen(Finding finding) {
        return switch (finding.outcome()) {
            case PASS, WARN -> false;
            case SKIPPED -> TEMPORARY.contains(finding.code());
            case FAIL, UNKNOWN -> true;
        };
    }

    /** Returns the name of a finding in texts, such as "gpu-results (gpu-held)". */
    static String name(CheckInfo check, Finding finding) {
        return check.id() + " (" + finding.code() + ")";
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

    /** Returns the event that ends a pending fault, and those that name the open checks of its part. */
    static HealthEvent verified(HealthEvent pending, String text, Instant now) {
        return end(pending, text, now).toBuilder().errorCodes(List.of()).build();
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

    /** Returns whether a finding is of the part of a pending fault. A run that broke off may have missed any part. */
    static boolean concerns(Finding finding, HealthEvent pending) {
        return concerns(finding.subject().entities(), pending) || CheckExecution.isIncomplete(finding);
    }

    /** Returns whether a part with these names is that of a pending fault. */
    static boolean concerns(List<Entity> parts, HealthEvent pending) {
        return pending.entities().isEmpty()
                ? parts.isEmpty()
                : parts.stream().anyMatch(part -> pending.entities().stream().anyMatch(entity -> entity.equals(part)));
    }
}
