package dev.gpuwarden.aggregator.remediation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The repairs of a node as its annotations store them. No other state is kept.
 *
 * @param history attempts of this quarantine and earlier ones, the oldest first, at most {@link #MOST}
 * @param session names of the resources of this quarantine
 * @param made names of those whose resource was seen
 * @param drain reason why all pods have to leave; empty if the faults alone request the drain
 * @param next attempt that waits for an approval
 * @param person wait for an operator
 */
record RepairRecord(
        List<Repair> history,
        Set<String> session,
        Set<String> made,
        Optional<String> drain,
        Optional<Repair> next,
        Optional<Person> person) {

    /** The longest history. Attempts of this quarantine stay in any case. */
    static final int MOST = 32;

    static final RepairRecord NONE =
            new RepairRecord(List.of(), Set.of(), Set.of(), Optional.empty(), Optional.empty(), Optional.empty());

    /**
     * @param task task of the operator
     * @param since time since which the node waits for it
     */
    record Person(String task, Instant since) {}

    RepairRecord {
        history = List.copyOf(history);
        session = Set.copyOf(session);
        made = Set.copyOf(made);
    }

    /** Returns the last attempt of this quarantine for a group that was neither withdrawn nor postponed. */
    Optional<Repair> last(RepairGroup group) {
        return inSession()
                .filter(repair -> repair.group().equals(group) && isOf(repair))
                .reduce((a, b) -> b);
    }

    private static boolean isOf(Repair repair) {
        return !repair.withdrawn() && !repair.postponed();
    }

    /** Returns the attempts of this quarantine for a group that were postponed since the last one that was not, the oldest first. */
    List<Repair> postponed(RepairGroup group) {
        List<Repair> postponed = new ArrayList<>();
        inSession()
                .filter(repair -> repair.group().equals(group) && !repair.withdrawn())
                .forEach(repair -> {
                    if (repair.postponed()) {
                        postponed.add(repair);
                    } else {
                        postponed.clear();
                    }
                });
        return postponed;
    }

    Stream<Repair> inSession() {
        return history.stream().filter(repair -> session.contains(repair.resource()));
    }

    /**
     * Returns the names of the attempts of this quarantine that count and that NVSentinel's annotation does not name. It names the
     * last one of each group's name alone: that one may be withdrawn, or of another kind of the template's resources.
     */
    SortedSet<String> earlier() {
        SortedSet<String> names = new TreeSet<>();
        Map<String, String> last =
                inSession().collect(Collectors.toMap(repair -> repair.group().name(), Repair::resource, (a, b) -> b));
        inSession().collect(Collectors.groupingBy(Repair::group)).values().forEach(group -> {
            Repair newest = group.get(group.size() - 1);
            if (!last.containsValue(newest.resource())) {
                names.add(newest.resource());
            }
            group.stream()
                    .filter(repair -> repair.postponed() && !last.containsValue(repair.resource()))
                    .forEach(repair -> names.add(repair.resource()));
            if (!isOf(newest) || newest.inProgress() && !made.contains(newest.resource())) {
                group.subList(0, group.size() - 1).stream()
                        .filter(RepairRecord::isOf)
                        .reduce((a, b) -> b)
                        .ifPresent(repair -> names.add(repair.resource()));
            }
        });
        return names;
    }

    /** Returns the attempts that may have the lock of the node: those of users' templates that are in progress. */
    List<Repair> locking() {
        return history.stream()
                .filter(repair ->
                        repair.inProgress() && repair.group().template().isPresent())
                .toList();
    }

    /** Returns the attempts in progress whose template is no longer configured. */
    List<Repair> unconfigured(RepairTemplates templates) {
        return locking().stream()
                .filter(repair -> templates.of(repair.group()).isEmpty())
                .toList();
    }

    /** Returns the resources that keep the lock of their node in quarantine: also those that this record may make. */
    Set<String> locking(List<MaintenanceResource> resources) {
        Set<String> names = lockingAtRest(resources);
        locking().forEach(repair -> names.add(repair.resource()));
        return names;
    }

    /** Returns the resources that keep the lock of a node out of quarantine: those of users' templates that are in progress. */
    static Set<String> lockingAtRest(List<MaintenanceResource> resources) {
        return resources.stream()
                .filter(each -> each.kind() instanceof TemplateKind && each.inProgress())
                .map(MaintenanceResource::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the name of the next attempt for a fault. The history may have lost attempts, so the number of those left may be taken. */
    String nextName(String node, String uid, RepairGroup group, String fault) {
        Set<String> taken = history.stream().map(Repair::resource).collect(Collectors.toSet());
        int attempt = 1
                + (int) history.stream()
                        .filter(before ->
                                before.group().equals(group) && before.fault().equals(fault))
                        .count();
        return IntStream.iterate(attempt, next -> next + 1)
                .mapToObj(next -> group.resource(node, uid, fault, next))
                .filter(name -> !taken.contains(name))
                .findFirst()
                .orElseThrow();
    }

    RepairRecord with(Repair begun) {
        List<Repair> all = new ArrayList<>(history);
        all.add(begun);
        Set<String> of = new HashSet<>(session);
        of.add(begun.resource());
        while (all.size() > MOST) {
            // Those that were withdrawn first, since they prove nothing and others count for days.
            Optional<Repair> least = all.stream()
                    .filter(repair -> !of.contains(repair.resource()))
                    .min(Comparator.comparing(repair -> !repair.withdrawn()));
            if (least.isEmpty()) {
                break;
            }
            all.remove(least.get());
        }
        return new RepairRecord(all, of, made, drain, Optional.empty(), Optional.empty());
    }

    RepairRecord withResult(Repair of, Repair.Result result) {
        return with(of, of.ended(result));
    }

    /** Returns the record with this attempt in progress again. */
    RepairRecord reopened(Repair of) {
        return with(of, of.reopened());
    }

    private RepairRecord with(Repair of, Repair changed) {
        List<Repair> all = new ArrayList<>(history);
        all.replaceAll(each -> each.equals(of) ? changed : each);
        return new RepairRecord(all, session, made, drain, next, person);
    }

    RepairRecord withMade(String resource) {
        Set<String> more = new HashSet<>(made);
        more.add(resource);
        return new RepairRecord(history, session, more, drain, next, person);
    }

    RepairRecord drainingAll(String why) {
        return new RepairRecord(history, session, made, Optional.of(drain.orElse(why)), next, person);
    }

    RepairRecord waitingFor(Optional<Repair> approval, Optional<Person> operator) {
        return new RepairRecord(history, session, made, drain, approval, operator);
    }
}
