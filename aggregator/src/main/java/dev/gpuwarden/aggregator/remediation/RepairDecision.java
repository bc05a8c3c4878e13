package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.Repair.Result;
import dev.gpuwarden.aggregator.remediation.RepairRecord.Person;
import dev.gpuwarden.core.util.Text;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The decision about the repair of a node in quarantine. Pure.
 *
 * @param why reason, for operators
 * @param record new state of the Node
 * @param create attempts whose resources must exist now
 * @param again time of the next decision if nothing changes before; empty if there is none
 */
record RepairDecision(Kind kind, String why, RepairRecord record, List<Repair> create, Optional<Instant> again) {

    /** The longest task of an operator. All annotations of a Node may have 256 KiB together. */
    private static final int LONGEST_TASK = 4096;

    enum Kind {
        /** Nothing is requested. */
        NONE,
        /** A reason outside the node forbids any action. */
        BLOCKED,
        /** Something is under way that ends by itself. */
        WAIT,
        /** All pods must leave before the action. */
        DRAIN,
        /** An action waits for its approval. */
        APPROVAL,
        /** Only an operator can continue. */
        PERSON,
        /** A resource is made. */
        ACT
    }

    RepairDecision {
        create = List.copyOf(create);
    }

    static RepairDecision decide(RepairFacts facts) {
        Optional<RepairObstacle> obstacle = facts.obstacle();
        if (obstacle.isPresent()) {
            RepairRecord record =
                    obstacle.get().foreign() ? facts.record() : results(facts).record();
            return new RepairDecision(Kind.BLOCKED, obstacle.get().why(), record, List.of(), Optional.empty());
        }
        RepairFacts current = withdrawn(results(facts));
        List<Repair> create = unmade(current).toList();
        RepairDecision next = RepairSteps.of(current).decide();
        List<Repair> all = new ArrayList<>(create);
        all.addAll(next.create);
        return new RepairDecision(next.kind, next.why, next.record, all, next.again);
    }

    /**
     * Returns the patch that writes the record; empty if nothing must be written.
     *
     * @param before record that the Node has
     */
    List<Map<String, Object>> patch(CachedNode node, RepairRecord before) {
        // While it is blocked, only results are written.
        return kind == Kind.BLOCKED && record.equals(before) ? List.of() : RepairAnnotations.patch(node, record);
    }

    /** Returns the facts with the results of all resources that have ended or are gone. */
    private static RepairFacts results(RepairFacts facts) {
        RepairRecord record = reopened(facts);
        List<Repair> unconfigured = record.unconfigured(facts.policy().templates());
        for (Repair repair : record.history()) {
            Optional<MaintenanceResource> resource = resource(facts, repair);
            if (!repair.inProgress()) {
                continue;
            }
            if (resource.isPresent()) {
                record = record.withMade(repair.resource());
                Optional<Result> result =
                        resource.get().ended().map(at -> result(resource.get(), plausible(repair, at, facts.now())));
                if (result.isPresent()) {
                    record = record.withResult(repair, result.get());
                }
            } else if (record.made().contains(repair.resource())
                    || !record.session().contains(repair.resource())) {
                record = record.withResult(
                        repair,
                        new Result(Outcome.DELETED, second(facts.now()), "its resource was deleted before its end"));
            } else if (unconfigured.contains(repair)) {
                record = record.withResult(
                        repair,
                        new Result(
                                Outcome.WITHDRAWN,
                                second(facts.now()),
                                "its template is no longer configured, and its resource was not made"));
            }
        }
        return facts.with(record);
    }

    /**
     * Returns the record without the ends of those attempts that were withdrawn, and whose resource exists even so: its creation was on the
     * way, and its answer was lost.
     */
    private static RepairRecord reopened(RepairFacts facts) {
        RepairRecord record = facts.record();
        for (Repair repair : facts.record().history()) {
            if (repair.withdrawn() && resource(facts, repair).isPresent()) {
                record = record.reopened(repair);
            }
        }
        return record;
    }

    /**
     * Returns the time of an end. The writer of the resource may have written none, or that of another clock. The time that a
     * node has to report its recovery would then be over, or be hours.
     */
    private static Instant plausible(Repair repair, Instant ended, Instant now) {
        return ended.isBefore(repair.at()) || ended.isAfter(now) ? second(now) : ended;
    }

    /** Returns the facts without those attempts that may no longer begin, and whose resource was not made. */
    private static RepairFacts withdrawn(RepairFacts facts) {
        RepairRecord record = facts.record();
        for (Repair repair : unmade(facts).toList()) {
            Optional<String> why = !wanted(facts, repair)
                    ? Optional.of("the fault was over before its resource was made")
                    : facts.drained(repair.group())
                            ? Optional.empty()
                            : Optional.of(
                                    "the pods that must leave before have changed, and its resource was not made");
            if (why.isPresent()) {
                record = record.withResult(repair, new Result(Outcome.WITHDRAWN, second(facts.now()), why.get()));
            }
        }
        return facts.with(record);
    }

    private static Result result(MaintenanceResource resource, Instant at) {
        return resource.succeeded()
                ? new Result(Outcome.SUCCEEDED, at, "")
                : new Result(
                        RepairRefusals.outcome(resource),
                        at,
                        resource.why().isEmpty() ? "without a message" : resource.why());
    }

    /** Returns the recorded attempts whose resource was never made, as after the end of a leader. */
    private static Stream<Repair> unmade(RepairFacts facts) {
        return facts.record()
                .inSession()
                .filter(repair -> repair.inProgress() && !facts.record().made().contains(repair.resource()));
    }

    /** Returns true while a fault for which the attempt was made is still reported, and its check does not pass. */
    private static boolean wanted(RepairFacts facts, Repair repair) {
        return facts.demands().stream().anyMatch(demand -> !demand.isHeld() && repair.isFor(demand));
    }

    private static Optional<MaintenanceResource> resource(RepairFacts facts, Repair repair) {
        return facts.resources().stream()
                .filter(each ->
                        each.kind().equals(repair.group().kind()) && each.name().equals(repair.resource()))
                .findFirst();
    }

    static Instant second(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS);
    }

    static RepairDecision of(Kind kind, String why, RepairRecord record, Optional<Instant> again) {
        return new RepairDecision(kind, why, record, List.of(), again);
    }

    static Optional<Person> person(RepairRecord record, List<String> tasks, Instant now) {
        if (tasks.isEmpty()) {
            return Optional.empty();
        }
        String task = Text.truncate(String.join("; ", new TreeSet<>(tasks)), LONGEST_TASK);
        return record.person()
                .filter(before -> before.task().equals(task))
                .or(() -> Optional.of(new Person(task, second(now))));
    }

    static Set<String> subjects(List<Demand> demands) {
        return demands.stream().flatMap(demand -> demand.subjects().stream()).collect(Collectors.toSet());
    }
}
