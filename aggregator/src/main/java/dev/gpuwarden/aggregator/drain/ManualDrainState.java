package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The progress of a node's drain by an operator. Pure: each state is computed from the one before and the present pods.
 *
 * @param pods all pods that were seen since the start
 * @param due pods that must get a request to end
 * @param next time of the next evaluation if nothing changes before; empty if there is none
 */
public record ManualDrainState(List<ManualPod> pods, List<PodPlan> due, Optional<Instant> next) {

    static final ManualDrainState NONE = new ManualDrainState(List.of(), List.of(), Optional.empty());

    /** The longest time from the cordon until a pod arrives that was bound before it. */
    static final Duration ARRIVAL = Duration.ofSeconds(10);

    /** Part of the API server's message for a missing right, which a retry does not change. */
    private static final String NO_RIGHT = "cannot create resource \"pods/eviction\"";

    private static final Is LATE = new Is(State.STAYS, "it came after the cordon, and would come again");

    /** The state of a pod, and its reason. */
    private record Is(State state, String why) {}

    public ManualDrainState {
        pods = List.copyOf(pods);
        due = List.copyOf(due);
    }

    /** Returns true if the drain cannot go on without an operator. */
    public boolean over() {
        return pods.stream().noneMatch(ManualPod::awaited);
    }

    /** Returns true if no pod is in the way. */
    public boolean drained() {
        return pods.stream().noneMatch(ManualPod::inTheWay);
    }

    /**
     * Returns the next state.
     *
     * @param plan plan of all pods of the node
     * @param refusals refused evictions, by UID of the pod
     * @param began start of the drain, after the cordon
     */
    static ManualDrainState of(
            ManualDrainState before,
            List<PodPlan> plan,
            Map<String, Refusal> refusals,
            DrainPolicies policies,
            Instant began,
            Instant now) {
        Map<String, ManualPod> others = new HashMap<>();
        before.pods().forEach(pod -> others.put(pod.uid(), pod));
        List<ManualPod> pods = new ArrayList<>();
        List<PodPlan> due = new ArrayList<>();
        List<Instant> times = new ArrayList<>();
        for (PodPlan one : plan) {
            Optional<ManualPod> was =
                    Optional.ofNullable(others.remove(one.pod().uid()));
            Optional<Refusal> refused =
                    Optional.ofNullable(refusals.get(one.pod().uid()));
            boolean late = was.map(ManualPod::seen).orElse(now).isAfter(began.plus(ARRIVAL));
            ManualPod pod = pod(one, was, refused, late, policies, now);
            pods.add(pod);
            boolean asked = one.isDue(now);
            if (asked && pod.state() != State.STAYS) {
                due.add(one);
                refused.map(Refusal::again).ifPresent(times::add);
            } else if (pod.state() == State.GOING) {
                one.at().map(by -> by.plus(DrainDecision.OVERDUE)).ifPresent(times::add);
            } else if (pod.state() == State.SAVES) {
                one.at().ifPresent(times::add);
            }
        }
        others.values().stream()
                .filter(was -> was.inTheWay() || was.state() == State.GONE)
                .map(was -> as(was, State.GONE, now))
                .forEach(pods::add);
        pods.sort(Comparator.comparing(ManualPod::path).thenComparing(ManualPod::seen));
        return new ManualDrainState(
                pods, due, times.stream().filter(time -> time.isAfter(now)).min(Instant::compareTo));
    }

    private static ManualPod as(ManualPod was, State state, Instant now) {
        return was.state() == state ? was : new ManualPod(was.path(), was.uid(), state, "", now, was.seen());
    }

    private static ManualPod pod(
            PodPlan plan,
            Optional<ManualPod> was,
            Optional<Refusal> refused,
            boolean late,
            DrainPolicies policies,
            Instant now) {
        Is is = switch (plan.step()) {
            case LEFT -> left(plan, was);
            case STAYS -> new Is(State.STAYS, stays(plan, policies));
            case SIGNAL ->
                late
                        ? LATE
                        : new Is(
                                State.SAVES,
                                plan.reason()
                                        + refused.map(one -> "; the signal cannot be requested now: " + one.why())
                                                .orElse(""));
            case CHECKPOINT -> new Is(State.SAVES, plan.reason());
            case EVICT -> late ? LATE : evict(plan, refused, policies);
            case DELETE, AWAIT -> new Is(State.AWAIT, plan.reason());
            case GOING -> new Is(State.GOING, going(plan, now));
        };
        Instant since = is.state() == State.REFUSED
                ? refused.map(Refusal::since).orElse(now)
                : was.filter(one -> one.state() == is.state())
                        .map(ManualPod::since)
                        .orElse(now);
        PodView pod = plan.pod();
        Instant seen = was.map(ManualPod::seen).orElse(now);
        return new ManualPod(pod.path(), pod.uid(), is.state(), is.why(), DrainAnnotation.milli(since), seen);
    }

    private static Is left(PodPlan plan, Optional<ManualPod> was) {
        if (!plan.pod().ended()) {
            return new Is(State.LEFT, plan.reason());
        }
        boolean went =
                was.filter(one -> one.inTheWay() || one.state() == State.GONE).isPresent();
        return went ? new Is(State.GONE, "") : new Is(State.LEFT, plan.reason());
    }

    private static Is evict(PodPlan plan, Optional<Refusal> refused, DrainPolicies policies) {
        if (refused.isPresent()) {
            String why = refused.get().why();
            return new Is(why.contains(NO_RIGHT) ? State.STAYS : State.REFUSED, why);
        }
        return new Is(State.EVICT, plan.reason().isEmpty() ? unasked(plan.pod(), policies) : plan.reason());
    }

    /** Returns all reasons that keep the pod, with the options that permit its eviction. */
    private static String stays(PodPlan plan, DrainPolicies policies) {
        PodView pod = plan.pod();
        if (plan.holds()) {
            return plan.reason();
        }
        List<String> reasons = new ArrayList<>();
        if (pod.emptyDir() && !policies.emptyDir()) {
            reasons.add("its emptyDir would be lost (--delete-emptydir-data)");
        }
        if (pod.owner().isEmpty() && !policies.unmanaged()) {
            reasons.add("no controller would start it again (--force)");
        }
        return String.join(", and ", reasons);
    }

    /** Returns the option that would give the pod time to save its work; empty if it does not request that. */
    private static String unasked(PodView pod, DrainPolicies policies) {
        return pod.checkpoint()
                .filter(wish -> policies.notice().isZero())
                .map(wish -> "it could save its work on " + wish.signal() + " (--notice)")
                .orElse("");
    }

    private static String going(PodPlan plan, Instant now) {
        if (plan.at().isEmpty()) {
            return "";
        }
        Instant by = plan.at().get();
        return by.plus(DrainDecision.OVERDUE).isAfter(now) ? "it has until " + by : DrainDecision.overdue(plan, by);
    }

    /**
     * The state of a pod in an operator's drain.
     *
     * @param path `NAMESPACE/NAME`
     * @param why reason for operators; empty if the state needs none
     * @param since start of the state
     * @param seen time at which the drain first saw the pod
     */
    public record ManualPod(String path, String uid, State state, String why, Instant since, Instant seen) {

        public enum State {
            /** The pod was in the way, and has ended. */
            GONE,
            /** The pod gets its signal, or has time to save its work. */
            SAVES,
            /** The pod is evicted now. */
            EVICT,
            /** The eviction was refused, and is retried. */
            REFUSED,
            /** The deletion of the pod was requested, and its end is awaited. */
            GOING,
            /** The pod ends by itself. */
            AWAIT,
            /** The pod is in the way, and an operator must move it. */
            STAYS,
            /** The pod is not in the way. */
            LEFT;

            public String label() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        /** Returns true if the pod keeps the drain open. */
        public boolean inTheWay() {
            return state != State.GONE && state != State.LEFT;
        }

        /** Returns true if the pod cannot be evicted, now or permanently. */
        boolean kept() {
            return state == State.REFUSED || state == State.STAYS;
        }

        /** Returns true if the pod can end without an operator. */
        boolean awaited() {
            return inTheWay() && state != State.STAYS;
        }
    }

    /**
     * The result of an operator's drain of a node.
     *
     * @param why reason for operators; empty if the pods are the reason
     * @param unlisted reason why pods that have a GPU open by a process alone are not known; empty if they are, or need not be
     * @param began time since which the node takes no new pods
     */
    public record Result(
            Outcome outcome,
            String why,
            List<ManualPod> pods,
            Optional<String> unlisted,
            Instant began,
            Instant ended) {

        public enum Outcome {
            /** No pod is in the way. */
            DRAINED,
            /** Pods are left that need an operator. */
            LEFT,
            /** The time limit is over. */
            TIMEOUT,
            /** The node was put back into service, or is gone. */
            RELEASED,
            /** The operator has stopped the drain. */
            STOPPED,
            /** The holders of the GPUs are unknown, or the pods cannot be listed. */
            UNDECIDED;

            public String label() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        public Result {
            pods = List.copyOf(pods);
        }
    }
}
