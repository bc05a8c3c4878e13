package dev.gpuwarden.aggregator.remediation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
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

    enum State {
        /** Recorded on the Node; the leader was killed before it made the resource. */
        UNMADE,
        RUNNING,
        GOOD,
        BAD,
        GONE,
        /** Its fault was over before its resource was made, so it counts for nothing. */
        WITHDRAWN
    }

    /** A fault that is reported now. The action is reset, restart, none, or a task of a person. */
    record Fault(String check, String gpu, String action, long since) {

        private String id() {
            return check + " " + gpu + " " + since;
        }
    }

    /** An action of this program or by hand. The group is restart, reset-GPU, reset-GPU+GPU, or reset-all by hand. */
    static final class Action {
        final String group;
        final boolean byHand;
        final Set<String> subjects;
        final long at;
        final int session;
        private final String first;
        State state;
        long ended;

        private Action(String group, boolean byHand, Set<String> subjects, String first, long at, int session) {
            this.group = group;
            this.byHand = byHand;
            this.subjects = subjects;
            this.first = first;
            this.at = at;
            this.session = session;
            this.state = byHand ? State.RUNNING : State.UNMADE;
        }

        void end(State how, long now) {
            state = how;
            ended = now;
        }
    }

    /** The faults of a group, the oldest first. */
    private record Want(Fault first, Set<String> gpus) {}

    final List<Fault> faults = new ArrayList<>();
    private final List<Action> actions = new ArrayList<>();
    private int session;
    /** The pods that have left: none, those of the GPUs, or all. */
    boolean drainDone;

    boolean drainAll;
    Set<String> drainGpus = new HashSet<>();
    /** Nothing may begin. */
    boolean blocked;
    /** Another program owns the record of the node. */
    boolean foreign;

    boolean manual;
    /** GPUs that can only be reset together, sorted; empty if each is reset alone. */
    List<String> linked = List.of();
    /** The attempt that an operator has approved last. */
    private Optional<String> approved = Optional.empty();
    /** The attempt that waits for an approval, and its group. */
    private Optional<String> awaited = Optional.empty();

    Optional<String> awaitedGroup = Optional.empty();

    /** The node's record of this quarantine is gone. */
    void forget() {
        session++;
    }

    void release() {
        forget();
        faults.clear();
        approved = Optional.empty();
        awaited = Optional.empty();
        awaitedGroup = Optional.empty();
    }

    /** An operator approves the attempt that waits. */
    void approve() {
        if (awaited.isPresent()) {
            approved = awaited;
        }
    }

    /** An operator's approval names another attempt. */
    void approveNothing() {
        approved = Optional.empty();
    }

    Action byHand(String group, long now) {
        Action action = new Action(group, true, Set.of(), "", now, session);
        actions.add(action);
        return action;
    }

    /** Returns the actions whose resources are made now. */
    List<Action> decide(long now) {
        if (blocked) {
            return List.of();
        }
        for (Action action : actions) {
            boolean wanted = faults.stream().anyMatch(fault -> action.subjects.contains(fault.gpu()));
            if (action.state == State.UNMADE && (action.session != session || !wanted)) {
                action.end(action.session != session ? State.GONE : State.WITHDRAWN, now);
            }
        }
        List<Action> due = new ArrayList<>(
                actions.stream().filter(each -> each.state == State.UNMADE).toList());
        awaited = Optional.empty();
        awaitedGroup = Optional.empty();
        List<Action> more = new ArrayList<>();
        wanted(now).forEach((group, want) -> {
            String attempt = attempt(group, want.first());
            if (!drained(group)) {
                return;
            }
            if (!manual || approved.equals(Optional.of(attempt))) {
                more.add(new Action(group, false, want.gpus(), want.first().id(), now, session));
            } else if (awaited.isEmpty()) {
                awaited = Optional.of(attempt);
                awaitedGroup = Optional.of(group);
            }
        });
        actions.addAll(more);
        due.addAll(more);
        return due;
    }

    private boolean drained(String group) {
        return drainDone && (drainAll || !group.equals("restart") && drainGpus.containsAll(gpus(group)));
    }

    private String attempt(String group, Fault first) {
        return group + " " + first.id() + " "
                + actions.stream()
                        .filter(each -> each.group.equals(group) && each.first.equals(first.id()))
                        .count();
    }

    /** Returns the groups that the rules request. A reboot answers the resets too. */
    private Map<String, Want> wanted(long now) {
        Map<String, Want> wanted = new LinkedHashMap<>();
        for (Fault fault : faults) {
            String group = fault.action().equals("reset") ? reset(fault.gpu()) : fault.action();
            if (group.startsWith("reset-") || group.equals("restart")) {
                group(fault, group, now)
                        .ifPresent(act -> wanted.computeIfAbsent(act, any -> new Want(fault, new TreeSet<>()))
                                .gpus()
                                .add(fault.gpu()));
            }
        }
        if (wanted.containsKey("restart")) {
            wanted.keySet().retainAll(Set.of("restart"));
        }
        return wanted;
    }

    private Optional<String> group(Fault fault, String group, long now) {
        boolean restart = group.equals("restart");
        // Cases 1 and 4: a reboot in progress answers all. Case 2: a reset in progress answers its own group.
        // Case 3: a reset in progress does not answer a reboot.
        // A reset of a part of the linked GPUs, as by hand, answers all of them.
        if (running("restart") || !restart && (runningFor(gpus(group)) || running("reset-all"))) {
            return Optional.empty();
        }
        Optional<Action> reset = restart ? Optional.empty() : last(group);
        Optional<Action> reboot = last("restart");
        boolean reboots = reboot.isPresent() && reset.stream().allMatch(each -> reboot.get().at >= each.at);
        Optional<Action> last = reboots ? reboot : reset;
        if (last.isPresent() && last.get().state == State.BAD && !reboots) {
            return group(fault, "restart", now);
        }
        if (last.isPresent() && last.get().state != State.GOOD) {
            return Optional.empty();
        }
        // A younger fault is a new one. An older one has its time to end.
        if (last.filter(each -> fault.since() <= each.ended && now < each.ended + SETTLE)
                .isPresent()) {
            return Optional.empty();
        }
        long times = actions.stream()
                .filter(each -> !each.byHand && each.group.equals(group) && each.at > now - MEMORY)
                .filter(each -> each.state != State.WITHDRAWN)
                .filter(each -> each.subjects.contains(fault.gpu()))
                .count();
        if (times < ATTEMPTS) {
            return Optional.of(group);
        }
        return restart ? Optional.empty() : group(fault, "restart", now);
    }

    private boolean running(String group) {
        return actions.stream()
                .anyMatch(each -> each.group.equals(group)
                        && (each.state == State.RUNNING || each.state == State.UNMADE && each.session == session));
    }

    /** Returns the last action of this program in this quarantine. */
    private Optional<Action> last(String group) {
        return actions.stream()
                .filter(each -> !each.byHand && each.session == session && each.group.equals(group))
                .filter(each -> each.state != State.WITHDRAWN)
                .reduce((a, b) -> b);
    }

    private String reset(String gpu) {
        return "reset-" + (linked.contains(gpu) ? String.join("+", linked) : gpu);
    }

    private boolean runningFor(Set<String> gpus) {
        return actions.stream()
                .filter(each -> each.group.startsWith("reset-") && !each.group.equals("reset-all"))
                .anyMatch(
                        each -> running(each.group) && gpus(each.group).stream().anyMatch(gpus::contains));
    }

    private static Set<String> gpus(String group) {
        return Set.of(group.substring("reset-".length()).split("\\+"));
    }
}
