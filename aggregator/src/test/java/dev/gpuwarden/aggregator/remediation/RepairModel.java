package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.remediation.ModelAction.State;
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

    /** The faults of a group, the oldest first. */
    private record Want(ModelFault first, Set<String> subjects) {}

    final List<ModelFault> faults = new ArrayList<>();
    private final List<ModelAction> actions = new ArrayList<>();
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

    /** The GPUs that the node reports. */
    Set<String> there = Set.of("a", "b", "c");

    /** The file of the operator. It changes with a restart of the program. */
    ModelTemplates templates = ModelTemplates.NONE;
    /** The program may not read resources of templates that are no longer in the file. */
    boolean unreadable;
    /** The action of a template that has the lock of the node. */
    Optional<ModelAction> locker = Optional.empty();
    /** The lock is of a resource that the janitor carries out. */
    boolean lockedByAnother;
    /** The attempt that an operator has approved last. */
    private Optional<String> approved = Optional.empty();
    /** The attempt that waits for an approval, and its group. */
    private Optional<String> awaited = Optional.empty();

    Optional<String> awaitedGroup = Optional.empty();

    /** The node's record of this quarantine is gone. */
    void forget() {
        session++;
    }

    /** The operator removes what the node keeps after its return. Resources in progress go on. */
    void forgetAttempts() {
        actions.removeIf(each -> each.recorded && each.state != State.RUNNING);
        actions.forEach(each -> each.recorded = false);
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

    ModelAction byHand(String group, long now) {
        ModelAction action = new ModelAction(group, true, Set.of(), "", now, session);
        actions.add(action);
        return action;
    }

    /** Takes the lock of the node for an action. Returns false if another one has it. */
    boolean lock(ModelAction action) {
        if (lockedByAnother || locker.isPresent() && locker.get() != action) {
            return false;
        }
        locker = Optional.of(action);
        return true;
    }

    /** Returns true if its template is no longer in the file. */
    private boolean isHidden(ModelAction action) {
        return action.ofTemplate() && templates.of(action.group).isEmpty();
    }

    /** A resource is over. */
    void end(ModelAction action, State how, long at) {
        if (action.state == State.RUNNING) {
            action.unseen = Optional.of(new ModelAction.End(how, at));
        }
    }

    /** The node is out of quarantine: nothing begins, and only a resource in progress keeps the lock. */
    void rest() {
        locker = locker.filter(this::runs);
    }

    /** Returns true for a resource in progress, as the program sees it. */
    private boolean runs(ModelAction action) {
        return action.state == State.RUNNING && action.unseen.isEmpty() && !isHidden(action);
    }

    /** Returns true if a person must check what an attempt has done, since its template is no longer in the file. */
    boolean asksAboutHidden() {
        return actions.stream().anyMatch(each -> isHidden(each) && each.recorded && each.state == State.RUNNING)
                && !faults.isEmpty();
    }

    private void see(ModelAction action, long now) {
        boolean hidden = isHidden(action);
        if (action.state == State.RUNNING) {
            // Without the template the end is unknown, but a missing resource is not.
            if (!hidden || !unreadable && action.unseen.stream().anyMatch(end -> end.how() == State.GONE)) {
                action.see(now);
            }
        } else if (action.state == State.UNMADE && hidden && unreadable) {
            // The leader before may have made it.
            action.state = State.RUNNING;
            action.unseen = Optional.of(new ModelAction.End(State.GONE, now));
        } else if (action.state == State.UNMADE && action.session != session) {
            action.end(State.GONE, now);
        } else if (action.state == State.UNMADE && hidden) {
            action.end(State.WITHDRAWN, now);
        } else if (action.state == State.UNMADE && !blocked) {
            boolean wanted = faults.stream().anyMatch(fault -> !fault.held() && fault.isOf(action));
            if (!wanted || !drained(action.group)) {
                action.end(State.WITHDRAWN, now);
            }
        }
    }

    /** Returns the actions whose resources are made now. */
    List<ModelAction> decide(long now) {
        if (foreign) {
            // No result is recorded, so an attempt of the record goes on.
            locker = locker.filter(each -> each.recorded || runs(each));
        } else {
            actions.forEach(action -> see(action, now));
            locker = locker.filter(
                    each -> each.state == State.UNMADE || each.state == State.RUNNING && !isUnknown(each));
        }
        if (blocked) {
            return List.of();
        }
        List<ModelAction> due = new ArrayList<>(
                actions.stream().filter(each -> each.state == State.UNMADE).toList());
        awaited = Optional.empty();
        awaitedGroup = Optional.empty();
        List<ModelAction> more = new ArrayList<>();
        wanted(now).forEach((group, want) -> {
            String attempt = attempt(group, want.first());
            if (!drained(group)) {
                return;
            }
            if (!manual || approved.equals(Optional.of(attempt))) {
                more.add(new ModelAction(
                        group, false, want.subjects(), want.first().id(), now, session));
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
        String pods =
                templates.of(group).map(ModelTemplates.Template::drain).orElse(group.equals("restart") ? "all" : "gpu");
        return switch (pods) {
            case "none" -> true;
            case "all" -> drainDone && drainAll;
            default -> drainDone && (drainAll || drainGpus.containsAll(gpus(group)));
        };
    }

    private String attempt(String group, ModelFault first) {
        return group + " " + first.id() + " "
                + actions.stream()
                        .filter(each -> each.group.equals(group) && each.first.equals(first.id()))
                        .count();
    }

    /**
     * Returns the groups that the rules request. A reboot answers the resets too. A template is alone on its node, so the oldest
     * request decides between a template and resets.
     */
    private Map<String, Want> wanted(long now) {
        Map<String, Want> wanted = new LinkedHashMap<>();
        for (ModelFault fault : faults.stream().filter(each -> !each.held()).toList()) {
            templates
                    .requested(fault, linked, there)
                    .flatMap(group -> group(fault, group, now))
                    .ifPresent(act -> wanted.computeIfAbsent(act, any -> new Want(fault, new TreeSet<>()))
                            .subjects()
                            .addAll(fault.subjects()));
        }
        Optional<String> first = wanted.keySet().stream().findFirst();
        if (wanted.containsKey(templates.restart())) {
            wanted.keySet().retainAll(Set.of(templates.restart()));
        } else if (first.filter(templates::isTemplate).isPresent()) {
            wanted.keySet().retainAll(Set.of(first.get()));
        } else {
            wanted.keySet().removeIf(templates::isTemplate);
        }
        return wanted;
    }

    private Optional<String> ofTemplate(ModelFault fault, String group, ModelTemplates.Template template, long now) {
        if (actions.stream().anyMatch(this::isOpen)) {
            return Optional.empty();
        }
        Optional<ModelAction> last = last(group);
        if (last.filter(each -> each.state != State.GOOD).isPresent()) {
            return Optional.empty();
        }
        if (last.filter(each -> fault.since() <= each.ended && (template.operator() || now < each.ended + SETTLE))
                .isPresent()) {
            return Optional.empty();
        }
        return times(fault, group, now) < ATTEMPTS ? Optional.of(group) : Optional.empty();
    }

    private Optional<String> group(ModelFault fault, String group, long now) {
        if (templates.of(group).isPresent()) {
            return ofTemplate(fault, group, templates.of(group).get(), now);
        }
        boolean restart = group.equals("restart");
        // Cases 1 and 4: a reboot in progress answers all. Case 2: a reset in progress answers its own group.
        // Case 3: a reset in progress does not answer a reboot.
        // A reset of a part of the linked GPUs, as by hand, answers all of them.
        // While a template acts on the node, nothing else begins.
        boolean alone = actions.stream().anyMatch(each -> isOpen(each) && !each.group.startsWith("reset-"));
        if (alone || !restart && (runningFor(gpus(group)) || running("reset-all"))) {
            return Optional.empty();
        }
        Optional<ModelAction> reset = restart ? Optional.empty() : last(group);
        Optional<ModelAction> reboot = last(templates.restart());
        boolean reboots = reboot.isPresent() && reset.stream().allMatch(each -> reboot.get().at >= each.at);
        Optional<ModelAction> last = reboots ? reboot : reset;
        if (last.isPresent() && last.get().state == State.BAD && !reboots) {
            return group(fault, templates.restart(), now);
        }
        if (last.isPresent() && last.get().state != State.GOOD) {
            return Optional.empty();
        }
        // A younger fault is a new one. An older one has its time to end.
        if (last.filter(each -> fault.since() <= each.ended && now < each.ended + SETTLE)
                .isPresent()) {
            return Optional.empty();
        }
        if (times(fault, group, now) < ATTEMPTS) {
            return mayTryAgain(group, now) ? Optional.of(group) : Optional.empty();
        }
        return restart ? Optional.empty() : group(fault, templates.restart(), now);
    }

    /** After a refusal before anything was tried, the next attempt waits for a minute; three in a row are for a person. */
    private boolean mayTryAgain(String group, long now) {
        List<ModelAction> inRow = new ArrayList<>();
        for (ModelAction each : actions) {
            if (each.recorded && each.session == session && each.group.equals(group) && each.state != State.WITHDRAWN) {
                if (each.state == State.POSTPONED) {
                    inRow.add(each);
                } else {
                    inRow.clear();
                }
            }
        }
        return inRow.isEmpty() || inRow.size() < 3 && now >= inRow.get(inRow.size() - 1).ended + 60;
    }

    /** Returns true if an attempt of the same group was postponed before. */
    boolean wasPostponed(ModelAction action) {
        return actions.stream().anyMatch(each -> each.state == State.POSTPONED && each.group.equals(action.group));
    }

    /** Returns the number of attempts for the GPU that had most of them. */
    private long times(ModelFault fault, String group, long now) {
        return fault.subjects().stream()
                .mapToLong(subject -> actions.stream()
                        .filter(each -> each.recorded && each.group.equals(group) && each.at > now - MEMORY)
                        .filter(each -> !each.state.untried())
                        .filter(each -> each.subjects.contains(subject))
                        .count())
                .max()
                .orElse(0);
    }

    /** Returns true if nothing is left that names the action. */
    private boolean isUnknown(ModelAction action) {
        return isHidden(action) && !action.recorded;
    }

    private boolean isOpen(ModelAction each) {
        return each.state == State.RUNNING && !isUnknown(each) || each.state == State.UNMADE && each.session == session;
    }

    private boolean running(String group) {
        return actions.stream().anyMatch(each -> each.group.equals(group) && isOpen(each));
    }

    /** Returns the last action of this program in this quarantine. */
    private Optional<ModelAction> last(String group) {
        return actions.stream()
                .filter(each -> each.recorded && each.session == session && each.group.equals(group))
                .filter(each -> each.state != State.WITHDRAWN && each.state != State.POSTPONED)
                .reduce((a, b) -> b);
    }

    private boolean runningFor(Set<String> gpus) {
        return actions.stream()
                .filter(each -> each.group.startsWith("reset-") && !each.group.equals("reset-all"))
                .anyMatch(
                        each -> running(each.group) && gpus(each.group).stream().anyMatch(gpus::contains));
    }

    private static Set<String> gpus(String group) {
        return Set.of(group.substring(group.indexOf('-') + 1).split("\\+"));
    }
}
