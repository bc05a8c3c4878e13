package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainRecord.Waiting;
import dev.gpuwarden.aggregator.drain.PodPlan.Step;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.quarantine.Marks;
import dev.gpuwarden.aggregator.quarantine.NodePatch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

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
        Kind kind, DrainRecord record, List<PodPlan> plan, List<Map<String, Object>> patch, boolean behind) {

    public enum Kind {
        NONE,
        START,
        /** More has to go than before. */
        EXTEND,
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
            NodeRead node,
            DrainRecord before,
            DrainRecord asked,
            Collection<PodRead> pods,
            GpuPods.Answer answer,
            Map<String, Refusal> refusals,
            DrainPolicies policies,
            UnaryOperator<List<PodPlan>> moved,
            boolean quiet,
            Instant now) {
        DrainRecord record = asked;
        Map<String, java.util.Set<String>> holders = Map.of();
        if (!record.pending().isEmpty()) {
            if (answer instanceof GpuPods.Answer.Unknown unknown) {
                record = record.escalated(unknown.why(), now);
            } else if (answer instanceof GpuPods.Answer.Asked asks) {
                Waiting wait = new Waiting("", "ask", DrainRecord.cut(asks.what()), DrainRecord.milli(now));
                return write(node, before, record.waiting(0, false, since(before, List.of(wait))), List.of(), quiet);
            } else if (answer instanceof GpuPods.Answer.Known known) {
                holders = known.holders();
            }
        }
        List<PodPlan> plan = moved.apply(DrainPlan.of(record, pods, holders, policies, now));
        List<PodPlan> inTheWay = plan.stream().filter(PodPlan::inTheWay).toList();
        if (inTheWay.isEmpty()) {
            return write(node, before, record.finished(now), plan, quiet);
        }
        List<Waiting> waiting = inTheWay.stream()
                .sorted(Comparator.comparing(pod -> ORDER.indexOf(pod.step())))
                .flatMap(pod -> waiting(pod, refusals, now).stream())
                .toList();
        boolean stuck = inTheWay.stream().allMatch(pod -> pod.step() == Step.STAYS);
        return write(node, before, record.waiting(inTheWay.size(), stuck, since(before, waiting)), plan, quiet);
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
                DrainRecord.cut(why),
                DrainRecord.milli(since));
    }

    /** With the times that are written already, for the same that is waited for. */
    private static List<Waiting> since(DrainRecord before, List<Waiting> waiting) {
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
            NodeRead node, DrainRecord before, DrainRecord record, List<PodPlan> plan, boolean quiet) {
        Kind kind = kind(before, record, quiet);
        if (kind == Kind.NONE) {
            return new DrainDecision(kind, before, plan, List.of(), before.active() && !record.equals(before));
        }
        NodePatch patch = new NodePatch(node);
        patch.annotate(Marks.DRAIN, Optional.of(record.text()));
        patch.label(Marks.STATE, Optional.of(record.state()));
        return new DrainDecision(kind, record, plan, patch.operations(tests(node)), false);
    }

    /** All that was read of it for this: a condition, or a kubelet's image list, that came meanwhile is none of it. */
    private static Map<String, Object> tests(NodeRead node) {
        Map<String, Object> tests = new HashMap<>();
        tests.put("/spec/unschedulable", true);
        for (String name : List.of(Marks.EVENTS, Marks.DRAIN)) {
            Optional.ofNullable(node.annotations().get(name))
                    .ifPresent(text -> tests.put(NodePatch.annotation(name), text));
        }
        return tests;
    }

    private static Kind kind(DrainRecord before, DrainRecord record, boolean quiet) {
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
            return Kind.FINISH;
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
