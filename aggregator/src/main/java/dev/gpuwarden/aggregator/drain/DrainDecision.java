package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.drain.DrainAnnotation.Waiting;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.quarantine.NodePatch;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A decision about the drain of a Node: the patch of the Node, and the next step of each pod. Pure and idempotent: once the
 * patch is applied and the pods are unchanged, the next decision has none.
 *
 * @param record drain as it is after the patch
 * @param patch JSON patch of the Node, which fails if its quarantine or drain has changed since it was read; empty if nothing
 *     must be written
 * @param behind true if a change must be written later
 */
public record DrainDecision(
        Kind kind, DrainAnnotation record, List<PodPlan> plan, List<Map<String, Object>> patch, boolean behind) {

    public enum Kind {
        NONE,
        START,
        /** More pods have to leave than before. */
        EXTEND,
        /** The drain had succeeded, and a pod that holds a GPU came since. */
        REOPEN,
        /** The state of its pods has changed. */
        PROGRESS,
        FINISH
    }

    /** Time after the deadline of a requested end until the pod counts as overdue. */
    static final Duration OVERDUE = Duration.ofSeconds(10);

    /** The order in reports: pods that need an operator are first. */
    private static final List<Step> ORDER =
            List.of(Step.STAYS, Step.EVICT, Step.SIGNAL, Step.GOING, Step.CHECKPOINT, Step.DELETE, Step.AWAIT);

    /**
     * Decides about the drain of a node.
     *
     * @param before drain as the Node's annotation has it
     * @param asked drain with the requests of the present faults
     * @param pods all pods of the node
     * @param answer holders of the drain's GPUs; ignored for a full drain
     * @param refusals refused evictions and deletions, by UID of the pod
     * @param moved function that moves steps: together with pods of other nodes, or after a checkpoint
     * @param quiet true shortly after a write of the Node: if pods have only left since, that is written later
     */
    public static DrainDecision decide(
            CachedNode node,
            DrainAnnotation before,
            DrainAnnotation asked,
            Collection<PodView> pods,
            GpuHolderSource.Answer answer,
            Map<String, Refusal> refusals,
            DrainPolicies policies,
            UnaryOperator<List<PodPlan>> moved,
            boolean quiet,
            Instant now) {
        DrainAnnotation record = asked;
        Map<String, Set<String>> holders = Map.of();
        Set<String> unknown = new HashSet<>();
        if (!record.partial().isEmpty()) {
            if (answer instanceof GpuHolderSource.Answer.Known known) {
                holders = known.processes().and(known.holders(), pods);
            } else if (record.succeeded().isPresent()) {
                // Pods from before the end of the drain hold none of the GPUs.
                holders = since(record, pods)
                        .collect(Collectors.toMap(PodView::path, pod -> asked.partial(), (a, b) -> a));
                unknown.addAll(holders.keySet());
            } else if (answer instanceof GpuHolderSource.Answer.Unknown unresolved) {
                record = record.escalated(unresolved.why(), now);
            } else if (answer instanceof GpuHolderSource.Answer.Asked asks) {
                Waiting wait = new Waiting("", "ask", DrainAnnotation.cut(asks.what()), DrainAnnotation.milli(now));
                return write(node, before, record.waiting(0, false, since(before, List.of(wait))), List.of(), quiet);
            }
        }
        List<PodPlan> planned = DrainPlan.ofQuarantine(record, pods, holders, policies, now);
        if (record.finished().isPresent()) {
            Set<String> held = held(record, holders, planned);
            if (held.isEmpty()) {
                return new DrainDecision(Kind.NONE, before, List.of(), List.of(), false);
            }
            record = record.reopened(held, now);
        }
        List<PodPlan> plan = moved.apply(planned);
        List<PodPlan> inTheWay = plan.stream().filter(PodPlan::inTheWay).toList();
        if (inTheWay.isEmpty()) {
            Optional<DrainAnnotation> open = missing(answer)
                    .map(why -> new Waiting("", "stays", DrainAnnotation.cut(why), DrainAnnotation.milli(now)))
                    .map(wait -> asked.waiting(0, true, since(before, List.of(wait))));
            return write(node, before, open.orElse(record.finished(now)), plan, quiet);
        }
        List<Waiting> waiting = inTheWay.stream()
                .sorted(Comparator.comparing(pod -> ORDER.indexOf(pod.step())))
                .flatMap(pod -> waiting(pod, refusals, now).stream())
                .map(pod -> unknown.contains(pod.pod()) ? perhaps(pod) : pod)
                .toList();
        boolean stuck = inTheWay.stream().allMatch(pod -> pod.step() == Step.STAYS);
        return write(node, before, record.waiting(inTheWay.size(), stuck, since(before, waiting)), plan, quiet);
    }

    /** Returns the reason why further pods may hold the GPUs; empty if none can. */
    static Optional<String> missing(GpuHolderSource.Answer answer) {
        return answer instanceof GpuHolderSource.Answer.Known known
                ? known.processes().missing()
                : Optional.empty();
    }

    /** Returns true if the decision needs the holders of the GPUs. */
    static boolean asks(DrainAnnotation asked, Collection<PodView> pods) {
        return !asked.partial().isEmpty()
                && (asked.succeeded().isEmpty() || since(asked, pods).findAny().isPresent());
    }

    /** Returns the pods that may have got a GPU since the drain last succeeded. */
    private static Stream<PodView> since(DrainAnnotation record, Collection<PodView> pods) {
        // Kubelets write whole seconds.
        Instant from = record.succeeded().orElseThrow().truncatedTo(ChronoUnit.SECONDS);
        return pods.stream()
                .filter(pod -> pod.wantsGpu() && !pod.ended())
                .filter(pod -> pod.taken().map(at -> !at.isBefore(from)).orElse(true));
    }

    /** Returns the UUIDs of GPUs that pods still hold; in a drain of all pods the paths of pods that hold any. */
    private static Set<String> held(DrainAnnotation record, Map<String, Set<String>> holders, List<PodPlan> plan) {
        return plan.stream()
                .filter(pod -> pod.inTheWay() && DrainPlan.holds(record, holders, pod.pod()))
                .map(pod -> pod.pod().path())
                .flatMap(path -> holders.getOrDefault(path, Set.of(path)).stream())
                .collect(Collectors.toSet());
    }

    /** Returns the entry of a pod whose GPUs are not known yet, or cannot be known. */
    private static Waiting perhaps(Waiting pod) {
        return new Waiting(
                pod.pod(), pod.step(), pod.why().replace("it holds a GPU", "it may hold the GPU"), pod.since());
    }

    private static Optional<Waiting> waiting(PodPlan plan, Map<String, Refusal> refusals, Instant now) {
        Refusal refused = refusals.get(plan.pod().uid());
        return switch (plan.step()) {
            case LEFT -> Optional.empty();
            case AWAIT, STAYS, CHECKPOINT -> Optional.of(waiting(plan, plan.reason(), plan.began()));
            case EVICT, SIGNAL -> Optional.ofNullable(refused).map(why -> waiting(plan, why.why(), why.since()));
            case DELETE ->
                Optional.of(
                        refused == null
                                ? waiting(plan, plan.reason(), plan.began())
                                : waiting(plan, refused.why(), refused.since()));
            case GOING ->
                plan.at().filter(by -> !by.plus(OVERDUE).isAfter(now)).map(by -> waiting(plan, overdue(plan, by), by));
        };
    }

    static String overdue(PodPlan plan, Instant by) {
        List<String> finalizers = plan.pod().finalizers();
        return "it should have ended by " + by
                + (finalizers.isEmpty() ? "" : "; finalizers hold it: " + String.join(", ", finalizers));
    }

    private static Waiting waiting(PodPlan plan, String why, Instant since) {
        return new Waiting(
                plan.pod().path(),
                plan.step().name().toLowerCase(Locale.ROOT),
                DrainAnnotation.cut(why),
                DrainAnnotation.milli(since));
    }

    /** Returns the entries with the start times that the annotation has already for the same pods and steps. */
    private static List<Waiting> since(DrainAnnotation before, List<Waiting> waiting) {
        List<Waiting> same = new ArrayList<>();
        for (Waiting now : waiting) {
            same.add(before.waiting().stream()
                    .filter(was -> was.pod().equals(now.pod()) && was.step().equals(now.step()))
                    .findFirst()
                    .map(was -> new Waiting(now.pod(), now.step(), now.why(), was.since()))
                    .orElse(now));
        }
        return same;
    }

    private static DrainDecision write(
            CachedNode node, DrainAnnotation before, DrainAnnotation record, List<PodPlan> plan, boolean quiet) {
        Kind kind = kind(before, record, quiet);
        if (kind == Kind.NONE) {
            return new DrainDecision(kind, before, plan, List.of(), before.active() && !record.equals(before));
        }
        NodePatch patch = new NodePatch(node);
        patch.annotate(NodeAnnotations.DRAIN, Optional.of(record.text()));
        patch.label(NodeAnnotations.STATE, Optional.of(record.state()));
        return new DrainDecision(kind, record, plan, patch.operations(tests(node)), false);
    }

    /**
     * Returns tests of the fields that the decision has read. Other changes of the Node, such as a condition or a kubelet's
     * image list, do not fail the patch.
     */
    private static Map<String, Object> tests(CachedNode node) {
        Map<String, Object> tests = new HashMap<>();
        tests.put("/spec/unschedulable", true);
        for (String name : List.of(NodeAnnotations.EVENTS, NodeAnnotations.DRAIN)) {
            Optional.ofNullable(node.annotations().get(name))
                    .ifPresent(text -> tests.put(NodePatch.annotation(name), text));
        }
        return tests;
    }

    private static Kind kind(DrainAnnotation before, DrainAnnotation record, boolean quiet) {
        if (record.equals(before)) {
            return Kind.NONE;
        }
        if (!before.active()
                && !record.active()
                && record.full().equals(before.full())
                && record.gpus().equals(before.gpus())) {
            return Kind.NONE;
        }
        if (!record.active()) {
            // Pods that come and end one after the other are not written one by one.
            return before.reopened().isPresent() && quiet ? Kind.NONE : Kind.FINISH;
        }
        if (before.finished().isPresent() && record.reopened().isPresent()) {
            return Kind.REOPEN;
        }
        if (!before.active()) {
            return Kind.START;
        }
        if (!record.full().equals(before.full())
                || !record.gpus().equals(before.gpus())
                || record.forced() != before.forced()) {
            return Kind.EXTEND;
        }
        boolean less = before.waiting().containsAll(record.waiting()) && before.failed() == record.failed();
        return less && quiet ? Kind.NONE : Kind.PROGRESS;
    }

    /**
     * Returns the time of the next decision if nothing changes before; empty if there is none.
     *
     * @param loud earliest time to write that pods have only left
     */
    Optional<Instant> next(Map<String, Refusal> refusals, DrainPolicies policies, Instant loud, Instant now) {
        List<Instant> times = new ArrayList<>();
        if (behind) {
            times.add(loud);
        }
        for (PodPlan pod : plan) {
            pod.pod()
                    .notReadySince()
                    .map(since -> since.plus(policies.notReady()))
                    .ifPresent(times::add);
            Optional<Instant> again =
                    Optional.ofNullable(refusals.get(pod.pod().uid())).map(Refusal::again);
            switch (pod.step()) {
                case GOING -> pod.at().map(by -> by.plus(OVERDUE)).ifPresent(times::add);
                case DELETE, SIGNAL -> again.or(pod::at).ifPresent(times::add);
                case EVICT -> again.ifPresent(times::add);
                case CHECKPOINT -> pod.at().ifPresent(times::add);
                case AWAIT, STAYS, LEFT -> {}
            }
        }
        return times.stream().filter(time -> time.isAfter(now)).min(Instant::compareTo);
    }
}
