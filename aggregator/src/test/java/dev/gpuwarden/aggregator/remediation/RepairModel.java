package dev.gpuwarden.aggregator.remediation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The specification of repairs as a table of cases and rules, written from section 4 of the specification of GPU resets and from
 * the manual. It shares no class with the program. Times are seconds.
 */
final class RepairModel {

    static final int ATTEMPTS = 2;
    static final long MEMORY = 7 * 24 * 3600;
    static final long SETTLE = 300;

    /** A fault that is reported now. The action is reset, restart, none, or a task of a person. */
    record Fault(String check, String gpu, String action, long since) {}

    /** An action of this program or by hand. Its state is running, good, bad or gone. */
    static final class Action {
        final String group;
        final boolean byHand;
        final Set<String> subjects;
        final long at;
        final int session;
        String state = "running";
        long ended;

        Action(String group, boolean byHand, Set<String> subjects, long at, int session) {
            this.group = group;
            this.byHand = byHand;
            this.subjects = subjects;
            this.at = at;
            this.session = session;
        }
    }

    final List<Fault> faults = new ArrayList<>();
    final List<Action> actions = new ArrayList<>();
    int session;
    /** The pods that have left: none, the GPUs with free pods, or all. */
    boolean drainDone;

    boolean drainAll;
    Set<String> drainGpus = new HashSet<>();
    boolean blocked;
    boolean manual;
    /** The groups that are approved, each for the next action of the group. */
    Optional<String> approved = Optional.empty();

    /** Returns the groups whose action begins now. */
    Set<String> due(long now) {
        if (blocked) {
            return Set.of();
        }
        Map<String, Set<String>> wanted = wanted(now);
        Set<String> due = new TreeSet<>();
        for (String group : wanted.containsKey("restart") ? Set.of("restart") : wanted.keySet()) {
            boolean drained = drainDone && (drainAll || !group.equals("restart") && drainGpus.contains(gpu(group)));
            if (drained && (!manual || approved.equals(Optional.of(group)))) {
                due.add(group);
            }
        }
        return due;
    }

    /** Returns the groups that the rules request, with the subjects of their faults. */
    Map<String, Set<String>> wanted(long now) {
        Map<String, Set<String>> wanted = new HashMap<>();
        for (Fault fault : faults) {
            String group = fault.action().equals("reset") ? "reset-" + fault.gpu() : fault.action();
            if (group.startsWith("reset-") || group.equals("restart")) {
                decide(fault, group, now)
                        .ifPresent(act -> wanted.computeIfAbsent(act, any -> new TreeSet<>())
                                .add(fault.gpu()));
            }
        }
        return wanted;
    }

    private Optional<String> decide(Fault fault, String group, long now) {
        boolean restart = group.equals("restart");
        // Cases 1 and 4: a reboot in progress answers all. Case 2: a reset in progress answers its own group.
        // Case 3: a reset in progress does not answer a reboot.
        if (running("restart") || !restart && running(group)) {
            return Optional.empty();
        }
        Action reset = restart ? null : last(group);
        Action reboot = last("restart");
        Action last = reset == null || reboot != null && reboot.at >= reset.at ? reboot : reset;
        if (last != null && last.state.equals("bad") && last == reset) {
            return decide(fault, "restart", now);
        }
        if (last != null && !last.state.equals("good")) {
            return Optional.empty();
        }
        // A younger fault is a new one. An older one has its time to end.
        if (last != null && fault.since() <= last.ended && now < last.ended + SETTLE) {
            return Optional.empty();
        }
        long times = actions.stream()
                .filter(each -> !each.byHand && each.group.equals(group) && each.at > now - MEMORY)
                .filter(each -> each.subjects.contains(fault.gpu()))
                .count();
        if (times < ATTEMPTS) {
            return Optional.of(group);
        }
        return restart ? Optional.empty() : decide(fault, "restart", now);
    }

    boolean running(String group) {
        return actions.stream().anyMatch(each -> each.group.equals(group) && each.state.equals("running"));
    }

    /** Returns the last action of this program in this quarantine; null without one. */
    private Action last(String group) {
        return actions.stream()
                .filter(each -> !each.byHand && each.session == session && each.group.equals(group))
                .reduce((a, b) -> b)
                .orElse(null);
    }

    static String gpu(String group) {
        return group.substring("reset-".length());
    }
}
