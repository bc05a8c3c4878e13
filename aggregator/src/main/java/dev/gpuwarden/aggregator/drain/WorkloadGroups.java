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
 * The pods of one controller on several draining nodes, which are deleted together at the earliest of their deadlines. A job
 * that has lost one pod makes no progress with the others. Thread-safe.
 */
final class WorkloadGroups {

    private final Consumer<String> again;
    /**
     * Deadline of the pods of a controller on each node, by the controller's UID and the node; kept until the node's drain is
     * over.
     */
    private final Map<String, Map<String, Instant>> due = new HashMap<>();

    /** @param again adds a node whose pods have to leave sooner to the work queue */
    WorkloadGroups(Consumer<String> again) {
        this.again = again;
    }

    /** Returns the plan with the common deadlines. */
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

    /** Removes the deadlines of a node whose drain is over. */
    synchronized void forget(String node) {
        due.values().forEach(nodes -> nodes.remove(node));
        due.values().removeIf(Map::isEmpty);
    }
}
