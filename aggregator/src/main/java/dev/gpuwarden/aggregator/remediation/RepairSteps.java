package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.Repair.Result;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rules of a decision: the next step for each request, and for the node the step that goes before the others. Pure. */
final class RepairSteps {

    /** The next step for one request. */
    private sealed interface Step {

        /** @param escalated reason why the action is another than the requested one; empty if it is the same */
        record Act(Demand demand, RepairGroup group, String escalated) implements Step {}

        /** @param until latest end of the wait; empty if an event ends it */
        record Wait(String why, Optional<Instant> until) implements Step {}

        record Person(String task) implements Step {}

        record Nothing(String why) implements Step {}
    }

    /** The pause before the next read of a resource that no watch delivers. */
    private static final Duration UNWATCHED = Duration.ofMinutes(1);

    private final RepairFacts facts;
    private final RepairRecord record;
    private final RepairsInProgress inProgress;
    private final RepairTemplates templates;
    /** The task of an operator for a resource of a template that is no longer configured. */
    private final Optional<String> unwatched;
    /** The group that restarts the node: this program's, or that of a template for it. */
    private final RepairGroup restart;

    private RepairSteps(RepairFacts facts) {
        this.facts = facts;
        this.record = facts.record();
        this.inProgress = new RepairsInProgress(facts.resources(), record);
        this.templates = facts.policy().templates();
        this.unwatched = inProgress.unwatched(templates);
        this.restart = templates.restart().orElse(RepairGroup.RESTART);
    }

    static RepairSteps of(RepairFacts facts) {
        return new RepairSteps(facts);
    }

    RepairDecision decide() {
        List<Step> steps = facts.demands().stream().map(this::step).toList();
        List<Step.Act> acts = of(steps, Step.Act.class);
        List<Step.Act> restarts =
                acts.stream().filter(act -> act.group().equals(restart)).toList();
        if (!restarts.isEmpty()) {
            return act(List.of(restarts));
        }
        if (!acts.isEmpty() && acts.get(0).group().template().isPresent()) {
            RepairGroup first = acts.get(0).group();
            return act(List.of(
                    acts.stream().filter(act -> act.group().equals(first)).toList()));
        }
        acts = acts.stream().filter(act -> act.group().template().isEmpty()).toList();
        if (!acts.isEmpty()) {
            return act(List.copyOf(acts.stream()
                    .collect(Collectors.groupingBy(Step.Act::group, LinkedHashMap::new, Collectors.toList()))
                    .values()));
        }
        List<Step.Wait> waits = of(steps, Step.Wait.class);
        if (!waits.isEmpty()) {
            Optional<Instant> again =
                    waits.stream().flatMap(wait -> wait.until().stream()).min(Instant::compareTo);
            String why = waits.stream().map(Step.Wait::why).distinct().collect(Collectors.joining("; "));
            return RepairDecision.of(Kind.WAIT, why, record.waitingFor(Optional.empty(), Optional.empty()), again);
        }
        List<String> tasks = new ArrayList<>(
                of(steps, Step.Person.class).stream().map(Step.Person::task).toList());
        if (!steps.isEmpty()) {
            unwatched.ifPresent(tasks::add);
        }
        var person = RepairDecision.person(record, tasks, facts.now());
        String why = person.map(RepairRecord.Person::task)
                .orElseGet(() -> of(steps, Step.Nothing.class).stream()
                        .map(Step.Nothing::why)
                        .findFirst()
                        .orElse("no fault that holds the node is reported now"));
        return RepairDecision.of(
                person.isPresent() ? Kind.PERSON : Kind.NONE,
                why,
                record.waitingFor(Optional.empty(), person),
                unwatched.map(any -> facts.now().plus(UNWATCHED)));
    }

    private static <T extends Step> List<T> of(List<Step> steps, Class<T> type) {
        return steps.stream().filter(type::isInstance).map(type::cast).toList();
    }

    // ---- one request ----

    private Step step(Demand demand) {
        if (demand.isHeld()) {
            return new Step.Nothing(
                    demand.name() + " is held, since it came and went: its check passes now, so nothing begins");
        }
        if (demand.group().isEmpty()) {
            return demand.person().isEmpty()
                    ? new Step.Nothing(demand.name() + " requests no action: the node waits for its end")
                    : new Step.Person(demand.name() + ": " + demand.person());
        }
        if (unwatched.isPresent()) {
            return new Step.Person(unwatched.get());
        }
        RepairGroup group = demand.group().get();
        if (group.template().isPresent()) {
            return ofTemplate(demand, group, "");
        }
        return group.restarts() ? restart(demand, "") : reset(demand, group);
    }

    /** A template is alone on its node: nothing is known about what it does. */
    private Step ofTemplate(Demand demand, RepairGroup group, String escalated) {
        Optional<String> busy = inProgress.any();
        if (busy.isPresent()) {
            return wait(demand, busy.get());
        }
        Optional<Repair> last = record.last(group);
        Optional<Result> ended = last.flatMap(Repair::result);
        if (ended.isPresent() && ended.get().outcome() != Outcome.SUCCEEDED) {
            return broken(demand, last.get(), ended.get());
        }
        if (ended.isPresent()
                && !demand.since().isAfter(ended.get().at())
                && templates.of(group).filter(RepairTemplate::operator).isPresent()) {
            return new Step.Person(demand.name() + ": check and release the node: the " + group.what() + " ("
                    + last.get().resource() + ") has succeeded");
        }
        Optional<Step> settling = settling(demand, last, ended);
        if (settling.isPresent()) {
            return settling.get();
        }
        long times = times(group, demand);
        return times >= facts.policy().attempts()
                ? new Step.Person(demand.name() + ": repair the node by hand: the " + group.what() + " did not help "
                        + times + " times")
                : new Step.Act(demand, group, escalated);
    }

    /** Cases 2 and 4 of the specification, and the escalation of a reset. */
    private Step reset(Demand demand, RepairGroup group) {
        Optional<String> busy = inProgress.alone().or(() -> inProgress.reset(group));
        if (busy.isPresent()) {
            return wait(demand, busy.get());
        }
        Optional<Repair> reset = record.last(group);
        Optional<Repair> last = Stream.concat(reset.stream(), record.last(restart).stream())
                .max(Comparator.comparing(Repair::at)
                        .thenComparing(repair -> repair.group().equals(restart)));
        Optional<Result> ended = last.flatMap(Repair::result);
        if (ended.isPresent() && ended.get().outcome() != Outcome.SUCCEEDED) {
            return last.equals(reset) && ended.get().outcome() == Outcome.FAILED
                    ? restart(demand, group.what() + " failed: " + ended.get().why())
                    : broken(demand, last.get(), ended.get());
        }
        Optional<Step> settling = settling(demand, last, ended);
        if (settling.isPresent()) {
            return settling.get();
        }
        long times = times(group, demand);
        return times >= facts.policy().attempts()
                ? restart(demand, group.what() + " did not help " + times + " times")
                : act(demand, group, "");
    }

    /** Cases 1 and 3 of the specification: a reset in progress does not delay a reboot. */
    private Step restart(Demand demand, String escalated) {
        if (restart.template().isPresent()) {
            return ofTemplate(demand, restart, escalated);
        }
        Optional<String> busy = inProgress.alone();
        if (busy.isPresent()) {
            return wait(demand, busy.get());
        }
        Optional<Repair> last = record.last(RepairGroup.RESTART);
        Optional<Result> ended = last.flatMap(Repair::result);
        if (ended.isPresent() && ended.get().outcome() != Outcome.SUCCEEDED) {
            return broken(demand, last.get(), ended.get());
        }
        Optional<Step> settling = settling(demand, last, ended);
        if (settling.isPresent()) {
            return settling.get();
        }
        long times = times(RepairGroup.RESTART, demand);
        return times >= facts.policy().attempts()
                ? new Step.Person(demand.name() + ": repair or replace "
                        + String.join(", ", new java.util.TreeSet<>(demand.subjects())) + ": the node was rebooted "
                        + times + " times for it within "
                        + facts.policy().memory().toHours() + " h")
                : act(demand, RepairGroup.RESTART, escalated);
    }

    /** Returns the action, unless attempts of it were postponed: then a pause comes first, and at last an operator. */
    private Step act(Demand demand, RepairGroup group, String escalated) {
        List<Repair> postponed = record.postponed(group);
        Optional<Instant> until = RepairRefusals.until(postponed, facts.now());
        return RepairRefusals.task(demand, postponed)
                .<Step>map(Step.Person::new)
                .or(() -> until.map(time -> new Step.Wait(RepairRefusals.wait(demand, group, time), until)))
                .orElseGet(() -> new Step.Act(demand, group, escalated));
    }

    private static Step wait(Demand demand, String why) {
        return new Step.Wait(demand.name() + " waits: " + why, Optional.empty());
    }

    /** Returns the wait for the report that a repair has helped. A fault that is younger than its end is a new one. */
    private Optional<Step> settling(Demand demand, Optional<Repair> last, Optional<Result> ended) {
        return ended.filter(result -> !demand.since().isAfter(result.at()))
                .map(result -> result.at().plus(facts.policy().settle()))
                .filter(until -> until.isAfter(facts.now()))
                .map(until -> new Step.Wait(
                        demand.name() + " waits: the "
                                + last.orElseThrow().group().what() + " has succeeded, and the node has until " + until
                                + " to report that the fault is over",
                        Optional.of(until)));
    }

    private static Step broken(Demand demand, Repair repair, Result ended) {
        if (ended.outcome() == Outcome.REFUSED) {
            return new Step.Person(RepairRefusals.task(demand, repair, ""));
        }
        String how = ended.outcome() == Outcome.FAILED ? "failed: " : "did not end: ";
        return new Step.Person(demand.name() + ": repair the node by hand: the "
                + repair.group().what() + " (" + repair.resource() + ") " + how + ended.why());
    }

    /** Returns the number of attempts for the GPU that had most of them. */
    private long times(RepairGroup group, Demand demand) {
        return demand.subjects().stream()
                .mapToLong(subject -> record.history().stream()
                        .filter(repair ->
                                repair.counts(group, subject, facts.policy().memory(), facts.now()))
                        .count())
                .max()
                .orElse(0);
    }

    // ---- the node ----

    /** @param groups acts of each group, those of the oldest request first */
    private RepairDecision act(List<List<Step.Act>> groups) {
        RepairRecord next = record;
        List<Repair> create = new ArrayList<>();
        Map<Kind, List<String>> texts = new LinkedHashMap<>();
        Optional<Repair> approval = Optional.empty();
        for (List<Step.Act> acts : groups) {
            Repair repair = repair(acts);
            RepairGroup group = repair.group();
            String what = group.what() + " for " + names(acts);
            if (!facts.drained(group)) {
                Optional<String> all = fullDrain(acts);
                if (all.isPresent()) {
                    next = next.drainingAll(all.get());
                    add(texts, Kind.DRAIN, what + " needs a drain of all pods: " + all.get());
                } else {
                    add(texts, Kind.WAIT, what + " waits for the drain");
                }
            } else if (facts.policy().manual() && !facts.approval().resource().equals(repair.resource())) {
                approval = approval.or(() -> record.next()
                        .filter(before -> before.resource().equals(repair.resource()))
                        .or(() -> Optional.of(repair)));
                add(texts, Kind.APPROVAL, what + " waits for gpuwarden approve " + facts.node());
            } else {
                Optional<String> approver =
                        facts.policy().manual() ? Optional.of(facts.approval().by()) : Optional.empty();
                Repair begun = approver.map(repair::approvedBy).orElse(repair);
                next = next.with(begun);
                create.add(begun);
                add(
                        texts,
                        Kind.ACT,
                        what + approver.map(by -> ", approved by " + by).orElse("") + reasons(acts));
            }
        }
        Kind kind = Stream.of(Kind.ACT, Kind.APPROVAL, Kind.DRAIN, Kind.WAIT)
                .filter(texts::containsKey)
                .findFirst()
                .orElseThrow();
        String why = String.join("; ", texts.getOrDefault(kind, List.of()));
        return new RepairDecision(kind, why, next.waitingFor(approval, Optional.empty()), create, Optional.empty());
    }

    /** Returns the reason why all pods have to leave; empty if the faults request that already, or some pods may stay. */
    private Optional<String> fullDrain(List<Step.Act> acts) {
        RepairGroup group = acts.get(0).group();
        if (!group.gpus().isEmpty() || facts.drain().full()) {
            return Optional.empty();
        }
        return acts.stream()
                .map(Step.Act::escalated)
                .filter(why -> !why.isEmpty())
                .findFirst()
                .or(() -> acts.stream()
                        .filter(act -> act.demand().action() == RecommendedAction.COMPONENT_RESET)
                        .findFirst()
                        .map(act -> "the " + group.what() + " acts on the whole node"));
    }

    private Repair repair(List<Step.Act> acts) {
        Step.Act first = acts.get(0);
        String fault = first.demand().fault();
        return new Repair(
                record.nextName(facts.node(), facts.uid(), first.group(), fault),
                first.group(),
                first.demand().action().name(),
                fault,
                names(acts) + reasons(acts),
                RepairDecision.subjects(acts.stream().map(Step.Act::demand).toList()),
                RepairDecision.second(facts.now()),
                Optional.empty(),
                "");
    }

    private static void add(Map<Kind, List<String>> texts, Kind kind, String text) {
        texts.computeIfAbsent(kind, any -> new ArrayList<>()).add(text);
    }

    private static String names(List<Step.Act> acts) {
        return acts.stream().map(act -> act.demand().name()).distinct().collect(Collectors.joining(", "));
    }

    private static String reasons(List<Step.Act> acts) {
        String why = acts.stream()
                .map(Step.Act::escalated)
                .filter(text -> !text.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
        return why.isEmpty() ? "" : ", because the " + why;
    }
}
