package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
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
 * How far the drain of a node by a person is. Pure: each look begins with the one before, and with the pods as they are.
 *
 * @param pods all that there were since it began
 * @param due those of them that are to be asked to end
 * @param next when to look again though nothing has changed; empty where there is no such time
 */
public record ManualDrainState(List<ManualPod> pods, List<PodPlan> due, Optional<Instant> next) {

    static final ManualDrainState NONE = new ManualDrainState(List.of(), List.of(), Optional.empty());

    /** What a scheduler had begun before it knew of the cordon comes within this. */
    static final Duration ARRIVAL = Duration.ofSeconds(10);

    /** The API server's words for who has no right, which no later try changes. */
    private static final String NO_RIGHT = "cannot create resource \"pods/eviction\"";

    private static final Is LATE = new Is(State.STAYS, "it came after the cordon, and would come again");

    /** What becomes of a pod, and why. */
    private record Is(State state, String why) {}

    public ManualDrainState {
        pods = List.copyOf(pods);
        due = List.copyOf(due);
    }

    /** Whether nothing moves any more without a person. */
    public boolean over() {
        return pods.stream().noneMatch(ManualPod::awaited);
    }

    /** Whether no pod is in the way. */
    public boolean drained() {
        return pods.stream().noneMatch(ManualPod::inTheWay);
    }

    /**
     * @param plan for all pods of the node
     * @param refusals by UID of a pod
     * @param began after the node was cordoned
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
                                        + refused.map(one -> "; it cannot be told now: " + one.why())
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

    /** All that stands against it at once, with the options that allow it. */
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
            reasons.add("nobody would start it again (--force)");
        }
        return String.join(", and ", reasons);
    }

    /** What it would like to have had before its end. */
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
        if (by.plus(DrainDecision.OVERDUE).isAfter(now)) {
            return "it has until " + by;
        }
        List<String> finalizers = plan.pod().finalizers();
        return "it should have ended by " + by
                + (finalizers.isEmpty() ? "" : "; finalizers hold it: " + String.join(", ", finalizers));
    }

    /**
     * What has become of a pod of a node that a person drains.
     *
     * @param path `NAMESPACE/NAME`
     * @param why for people; empty where the state says it all
     * @param since when its state is so
     * @param seen when it was first there
     */
    public record ManualPod(String path, String uid, State state, String why, Instant since, Instant seen) {

        public enum State {
            /** It was in the way, and has ended. */
            GONE,
            /** It is told that its end is near, and has time to save its work. */
            SAVES,
            /** It is asked to end now. */
            EVICT,
            /** It is not let go, which is tried again. */
            REFUSED,
            /** Somebody has asked for its end, which is awaited. */
            GOING,
            /** It ends by itself. */
            AWAIT,
            /** It is in the way, and a person has to see to that. */
            STAYS,
            /** It is in nobody's way. */
            LEFT;

            public String label() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        /** Whether the node is not drained while it is there. */
        public boolean inTheWay() {
            return state != State.GONE && state != State.LEFT;
        }

        /** Whether something keeps it there, now or for good. */
        boolean kept() {
            return state == State.REFUSED || state == State.STAYS;
        }

        /** Whether it is to be awaited: it may go without a person. */
        boolean awaited() {
            return inTheWay() && state != State.STAYS;
        }
    }

    /**
     * What came of the drain of a node by a person.
     *
     * @param why for people, where the pods do not say it all
     * @param began when the node was known to take no pods
     */
    public record Result(Outcome outcome, String why, List<ManualPod> pods, Instant began, Instant ended) {

        public enum Outcome {
            /** No pod is in the way. */
            DRAINED,
            /** Pods are left that a person has to see to. */
            LEFT,
            /** Its time is over. */
            TIMEOUT,
            /** Somebody has put the node back into service, or it is gone. */
            RELEASED,
            /** Whoever asked for it wants it no more. */
            STOPPED,
            /** Who holds the GPUs cannot be told, or the pods cannot be seen. */
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
