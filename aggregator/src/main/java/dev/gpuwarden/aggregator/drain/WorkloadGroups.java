package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Pods of one controller on several nodes that are drained go when the first of them has to: a job that has lost one of its pods gets
 * nothing done with the others. Thread-safe.
 */
final class WorkloadGroups {

    private final Consumer<String> again;
    /** When pods of a controller, by its UID, have to go from which node; until the node's drain is over. */
    private final Map<String, Map<String, Instant>> due = new HashMap<>();

    /** @param again has a node looked at: its pods have to go sooner */
    WorkloadGroups(Consumer<String> again) {
        this.again = again;
    }

    /** The same plan with the times at which pods really go. */
    List<PodPlan> of(String node, List<PodPlan> plan) {
        Set<String> sooner = new TreeSet<>();
        List<PodPlan> together = new ArrayList<>();
        synchronized (this) {
            plan.forEach(pod -> note(node, pod, sooner));
            plan.forEach(pod -> together.add(moved(pod)));
        }
        sooner.forEach(again);
        return together;
    }

    private static boolean shares(PodPlan plan) {
        return plan.step() == Step.DELETE && !plan.pod().ownerUid().isEmpty();
    }

    private void note(String node, PodPlan plan, Set<String> sooner) {
        if (!shares(plan)) {
            return;
        }
        Instant at = plan.at().orElse(Instant.MAX);
        Map<String, Instant> others = due.computeIfAbsent(plan.pod().ownerUid(), any -> new HashMap<>());
        boolean first = others.values().stream().allMatch(at::isBefore);
        others.merge(node, at, (one, other) -> one.isBefore(other) ? one : other);
        if (first) {
            sooner.addAll(others.keySet());
            sooner.remove(node);
        }
    }

    private PodPlan moved(PodPlan plan) {
        Optional<Instant> first = shares(plan)
                ? due.getOrDefault(plan.pod().ownerUid(), Map.of()).values().stream()
                        .min(Instant::compareTo)
                : Optional.empty();
        if (first.isEmpty() || first.equals(plan.at())) {
            return plan;
        }
        String reason = "it is deleted at " + first.get() + " with others of its "
                + plan.pod().owner() + " on other nodes";
        return new PodPlan(plan.pod(), plan.step(), reason, first, plan.began());
    }

    /** Its drain is over. */
    synchronized void forget(String node) {
        due.values().forEach(nodes -> nodes.remove(node));
        due.values().removeIf(Map::isEmpty);
    }
}
