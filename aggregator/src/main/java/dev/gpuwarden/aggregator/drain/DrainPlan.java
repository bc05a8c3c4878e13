package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The plan of a drain: the next step of each pod of a node. Pure. */
public final class DrainPlan {

    /** The longest time from a cordon to the creation of a pod that was bound before it, with the difference of the clocks. */
    static final Duration ARRIVAL = Duration.ofMinutes(1);

    /** The reason for which a pod is not in the way of a partial drain. */
    static final String OTHER_GPUS = "it has none of the GPUs";

    private final DrainAnnotation drain;
    private final Map<String, Set<String>> holders;
    private final DrainPolicies policies;
    private final Instant latest;
    private final Instant now;

    private DrainPlan(
            DrainAnnotation drain,
            Map<String, Set<String>> holders,
            DrainPolicies policies,
            Instant latest,
            Instant now) {
        this.drain = drain;
        this.holders = holders;
        this.policies = policies;
        this.latest = latest;
        this.now = now;
    }

    /**
     * Returns the plan of a drain that an operator requests.
     *
     * @param drain drain that is under way
     * @param holders UUIDs of the GPUs that each pod holds, by `NAMESPACE/NAME` of the pod; ignored for a full drain
     */
    public static List<PodPlan> of(
            DrainAnnotation drain,
            Collection<PodView> pods,
            Map<String, Set<String>> holders,
            DrainPolicies policies,
            Instant now) {
        return new DrainPlan(drain, holders, policies, Instant.MAX, now).of(pods);
    }

    /**
     * Returns the plan of a drain of a quarantined node. A pod that was created after the cordon is not evicted, since its
     * controller would create it again.
     */
    static List<PodPlan> ofQuarantine(
            DrainAnnotation drain,
            Collection<PodView> pods,
            Map<String, Set<String>> holders,
            DrainPolicies policies,
            Instant now) {
        return new DrainPlan(drain, holders, policies, drain.began().plus(ARRIVAL), now).of(pods);
    }

    private List<PodPlan> of(Collection<PodView> pods) {
        return pods.stream()
                .sorted(Comparator.comparing(PodView::path).thenComparing(PodView::uid))
                .map(this::of)
                .toList();
    }

    private PodPlan of(PodView pod) {
        Optional<Instant> asked = began(pod);
        Instant began = asked.orElse(now);
        if (pod.ended()) {
            return left(pod, "it has ended");
        }
        if (pod.mirror()) {
            return unasked(pod, "it is a mirror pod, started from a file on its node", began);
        }
        if (pod.owner().equals("DaemonSet")) {
            return unasked(pod, "its DaemonSet would start it again there", began);
        }
        if (policies.system().has(pod.namespace())) {
            return unasked(pod, "it is in a namespace of the system", began);
        }
        if (asked.isEmpty()) {
            return left(pod, OTHER_GPUS);
        }
        if (pod.deleted().isPresent()) {
            return new PodPlan(pod, Step.GOING, "", pod.deleted(), began);
        }
        Optional<DrainMode> mode = policies.mode(pod);
        Optional<Instant> late = pod.created().filter(at -> at.isAfter(latest));
        boolean asks = drain.forced()
                || mode.filter(DrainMode.ALLOW_COMPLETION::equals).isEmpty();
        if (late.isPresent() && asks) {
            return unasked(pod, "it was created at " + late.get() + ", after the cordon", late.get());
        }
        if (drain.forced()) {
            return new PodPlan(pod, Step.EVICT, "", Optional.empty(), began);
        }
        if (pod.notReadySince()
                .filter(since -> since.plus(policies.notReady()).isBefore(now))
                .isPresent()) {
            return unasked(
                    pod, "it has not been ready since " + pod.notReadySince().get(), began);
        }
        if (mode.isEmpty()) {
            return unasked(pod, "no rule is for its namespace", began);
        }
        return mode.get() == DrainMode.ALLOW_COMPLETION
                ? new PodPlan(pod, Step.AWAIT, "it may go on until it ends by itself", Optional.empty(), began)
                : moved(pod, mode.get(), began);
    }

    private PodPlan moved(PodView pod, DrainMode mode, Instant began) {
        if (pod.emptyDir() && !policies.emptyDir()) {
            return stays(pod, "its emptyDir would be lost (--drain.empty-dir)", began);
        }
        if (pod.owner().isEmpty() && !policies.unmanaged()) {
            return stays(pod, "no controller would start it again (--drain.unmanaged)", began);
        }
        if (mode == DrainMode.IMMEDIATE) {
            return new PodPlan(pod, Step.EVICT, "", Optional.empty(), began);
        }
        Instant due = began.plus(policies.timeout());
        return new PodPlan(
                pod, Step.DELETE, "it is deleted at " + due + " if it has not ended", Optional.of(due), began);
    }

    /** Returns the start of the drain for a pod; empty if the pod need not leave. */
    private Optional<Instant> began(PodView pod) {
        Stream<Instant> ofGpus = holders.getOrDefault(pod.path(), Set.of()).stream()
                .flatMap(gpu -> Optional.ofNullable(drain.gpus().get(gpu)).stream());
        return Stream.concat(drain.full().stream(), ofGpus).min(Instant::compareTo);
    }

    /** Returns the step of a pod that is not evicted. If it holds a GPU of the drain, an operator must move it. */
    private PodPlan unasked(PodView pod, String why, Instant began) {
        return holds(drain, holders, pod)
                ? new PodPlan(pod, Step.STAYS, "it holds a GPU, and " + why, Optional.empty(), began, true)
                : left(pod, why);
    }

    /**
     * Returns true if a pod holds a GPU of the drain. The services that the reset itself stops do not count.
     */
    static boolean holds(DrainAnnotation drain, Map<String, Set<String>> holders, PodView pod) {
        boolean holder = drain.full().isPresent()
                ? pod.wantsGpu()
                : holders.getOrDefault(pod.path(), Set.of()).stream().anyMatch(drain.gpus()::containsKey);
        return holder && pod.services().isEmpty();
    }

    private PodPlan left(PodView pod, String why) {
        return new PodPlan(pod, Step.LEFT, why, Optional.empty(), now);
    }

    private static PodPlan stays(PodView pod, String why, Instant began) {
        return new PodPlan(pod, Step.STAYS, why, Optional.empty(), began);
    }

    /**
     * The next step of one pod.
     *
     * @param reason text for operators; empty if the step needs none
     * @param at time at which the step is due, or must be over; empty if it has none
     * @param began time since which the pod has to leave
     * @param holds true if the pod is not evicted although it holds a GPU
     */
    public record PodPlan(PodView pod, Step step, String reason, Optional<Instant> at, Instant began, boolean holds) {

        /** Creates the plan of a pod that leaves, or holds nothing up. */
        public PodPlan(PodView pod, Step step, String reason, Optional<Instant> at, Instant began) {
            this(pod, step, reason, at, began, false);
        }

        public enum Step {
            /** The pod is evicted now. */
            EVICT,
            /** The pod must get its signal, so that it can save its work. */
            SIGNAL,
            /** The pod got its signal, and has time to save its work. */
            CHECKPOINT,
            /** The pod is deleted when its time is over. */
            DELETE,
            /** The pod ends by itself. */
            AWAIT,
            /** The deletion of the pod was requested, and its end is awaited. */
            GOING,
            /** The pod has to leave, and an operator must move it. */
            STAYS,
            /** The pod may stay: it does not keep the drain open. */
            LEFT
        }

        /** Returns true if the aggregator must send a request for the pod now. */
        boolean isDue(Instant now) {
            boolean asks = step == Step.EVICT || step == Step.SIGNAL || step == Step.DELETE;
            return asks && !at.orElse(now).isAfter(now);
        }

        /** Returns true if the pod keeps the drain open. */
        public boolean inTheWay() {
            return step != Step.LEFT;
        }
    }
}
