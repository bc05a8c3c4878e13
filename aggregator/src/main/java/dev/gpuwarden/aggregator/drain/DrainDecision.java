package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.drain.DrainAnnotation.Waiting;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
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
 * What is to be written on a Node of its drain, and what is to become of its pods. Pure: once the patch is on the Node and its pods
 * are as they were, there is none.
 *
 * @param record as it is with the patch
 * @param patch one JSON patch of the Node, that fails if its quarantine or drain is not as it was read any more; empty where nothing is to be
 *     written
 * @param behind whether something is to be written later
 */
public record DrainDecision(
        Kind kind, DrainAnnotation record, List<PodPlan> plan, List<Map<String, Object>> patch, boolean behind) {

    public enum Kind {
        NONE,
        START,
        /** More has to go than before. */
        EXTEND,
        /** It had succeeded, and a pod that holds a GPU came since. */
        REOPEN,
        /** What is told of it has changed. */
        PROGRESS,
        FINISH
    }

    /** What has been asked to end has so much longer than it was given. */
    static final Duration OVERDUE = Duration.ofSeconds(10);

    /** Who needs a person comes first. */
    private static final List<Step> ORDER =
            List.of(Step.STAYS, Step.EVICT, Step.SIGNAL, Step.GOING, Step.CHECKPOINT, Step.DELETE, Step.AWAIT);

    /**
     * @param before what the Node says of its drain
     * @param asked the same with what is asked for besides
     * @param pods all of the node
     * @param answer who has its GPUs; of no use to a full drain
     * @param refusals by UID of a pod
     * @param moved has pods wait for those of other nodes or for their own work, or go with them
     * @param quiet whether something was written just now: what only has become less waits for the next time
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
                holders = known.holders();
            } else if (record.succeeded().isPresent()) {
                // Those that were there before hold none of the GPUs.
                holders = since(record, pods)
                        .collect(Collectors.toMap(PodView::path, pod -> asked.partial(), (a, b) -> a));
                unknown.addAll(holders.keySet());
            } else if (answer instanceof GpuHolderSource.Answer.Unknown nobody) {
                record = record.escalated(nobody.why(), now);
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
            return write(node, before, record.finished(now), plan, quiet);
        }
        List<Waiting> waiting = inTheWay.stream()
                .sorted(Comparator.comparing(pod -> ORDER.indexOf(pod.step())))
                .flatMap(pod -> waiting(pod, refusals, now).stream())
                .map(pod -> unknown.contains(pod.pod()) ? perhaps(pod) : pod)
                .toList();
        boolean stuck = inTheWay.stream().allMatch(pod -> pod.step() == Step.STAYS);
        return write(node, before, record.waiting(inTheWay.size(), stuck, since(before, waiting)), plan, quiet);
    }

    /** Whether somebody has to be asked which pods hold the GPUs. */
    static boolean asks(DrainAnnotation asked, Collection<PodView> pods) {
        return !asked.partial().isEmpty()
                && (asked.succeeded().isEmpty() || since(asked, pods).findAny().isPresent());
    }

    /** Pods that may have been given a GPU since the drain had succeeded last. */
    private static Stream<PodView> since(DrainAnnotation record, Collection<PodView> pods) {
        // Kubelets write whole seconds.
        Instant from = record.succeeded().orElseThrow().truncatedTo(ChronoUnit.SECONDS);
        return pods.stream()
                .filter(pod -> pod.wantsGpu() && !pod.ended())
                .filter(pod -> pod.taken().map(at -> !at.isBefore(from)).orElse(true));
    }

    /** What keeps a drain from having succeeded: GPUs that pods hold, or pods that hold any where all have to go. */
    private static Set<String> held(DrainAnnotation record, Map<String, Set<String>> holders, List<PodPlan> plan) {
        return plan.stream()
                .filter(pod -> pod.inTheWay() && DrainPlan.holds(record, holders, pod.pod()))
                .map(pod -> pod.pod().path())
                .flatMap(path -> holders.getOrDefault(path, Set.of(path)).stream())
                .collect(Collectors.toSet());
    }

    /** Which GPU it holds is not known yet, or cannot be. */
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
                plan.at()
                        .filter(by -> !by.plus(OVERDUE).isAfter(now))
                        .map(by -> waiting(
                                plan,
                                plan.pod().finalizers().isEmpty()
                                        ? "it should have ended by " + by
                                        : "it should have ended by " + by + "; finalizers hold it: "
                                                + String.join(", ", plan.pod().finalizers()),
                                by));
        };
    }

    private static Waiting waiting(PodPlan plan, String why, Instant since) {
        return new Waiting(
                plan.pod().path(),
                plan.step().name().toLowerCase(Locale.ROOT),
                DrainAnnotation.cut(why),
                DrainAnnotation.milli(since));
    }

    /** With the times that are written already, for the same that is waited for. */
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

    /** All that was read of it for this: a condition, or a kubelet's image list, that came meanwhile is none of it. */
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
            // One pod after the other that comes and ends is not written down one by one.
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
     * When it is to be decided anew though nothing has changed; empty where there is no such time.
     *
     * @param loud when what has become less may be written
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
