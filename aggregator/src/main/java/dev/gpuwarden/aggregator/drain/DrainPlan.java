package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What is to become of each pod of a node. Pure. */
public final class DrainPlan {

    /** What a scheduler had begun before it knew of the cordon is created within this, by whatever clocks. */
    static final Duration ARRIVAL = Duration.ofMinutes(1);

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
     * @param drain that is under way
     * @param holders which pods, by `NAMESPACE/NAME`, hold which of the drain's GPUs; of no use to a full one
     */
    public static List<PodPlan> of(
            DrainAnnotation drain,
            Collection<PodView> pods,
            Map<String, Set<String>> holders,
            DrainPolicies policies,
            Instant now) {
        return new DrainPlan(drain, holders, policies, Instant.MAX, now).of(pods);
    }

    /** The same without a person: a pod that was created after the cordon is not asked to go, since its controller would create it again. */
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
            return unasked(pod, "its node's own files say that it runs there", began);
        }
        if (pod.owner().equals("DaemonSet")) {
            return unasked(pod, "its DaemonSet would start it again there", began);
        }
        if (policies.isSystem(pod.namespace())) {
            return unasked(pod, "it is in a namespace of the system", began);
        }
        if (asked.isEmpty()) {
            return left(pod, "it has none of the GPUs");
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
            return stays(pod, "nobody would start it again (--drain.unmanaged)", began);
        }
        if (mode == DrainMode.IMMEDIATE) {
            return new PodPlan(pod, Step.EVICT, "", Optional.empty(), began);
        }
        Instant due = began.plus(policies.timeout());
        return new PodPlan(
                pod, Step.DELETE, "it is deleted at " + due + " if it has not ended", Optional.of(due), began);
    }

    /** Since when it has to go; empty where it has not. */
    private Optional<Instant> began(PodView pod) {
        Stream<Instant> ofGpus = holders.getOrDefault(pod.path(), Set.of()).stream()
                .flatMap(gpu -> Optional.ofNullable(drain.gpus().get(gpu)).stream());
        return Stream.concat(drain.full().stream(), ofGpus).min(Instant::compareTo);
    }

    /** A pod that is not asked to go. Where it holds what is to be reset, a person has to see to it. */
    private PodPlan unasked(PodView pod, String why, Instant began) {
        return holds(drain, holders, pod)
                ? new PodPlan(pod, Step.STAYS, "it holds a GPU, and " + why, Optional.empty(), began, true)
                : left(pod, why);
    }

    /** Not what the reset itself stops: the services that NVIDIA's operator runs on nodes with GPUs. */
    static boolean holds(DrainAnnotation drain, Map<String, Set<String>> holders, PodView pod) {
        boolean holder = drain.full().isPresent()
                ? pod.wantsGpu()
                : holders.getOrDefault(pod.path(), Set.of()).stream().anyMatch(drain.gpus()::containsKey);
        return holder && !pod.gpuService();
    }

    private PodPlan left(PodView pod, String why) {
        return new PodPlan(pod, Step.LEFT, why, Optional.empty(), now);
    }

    private static PodPlan stays(PodView pod, String why, Instant began) {
        return new PodPlan(pod, Step.STAYS, why, Optional.empty(), began);
    }

    /**
     * What is to become of one pod.
     *
     * @param reason for people; empty where the step says it all
     * @param at when the step is due, or should be over; empty where there is no such time
     * @param began since when it has to go
     * @param holds whether it is not asked to go, and holds a GPU nevertheless
     */
    public record PodPlan(PodView pod, Step step, String reason, Optional<Instant> at, Instant began, boolean holds) {

        /** Of a pod that goes, or holds nothing up. */
        public PodPlan(PodView pod, Step step, String reason, Optional<Instant> at, Instant began) {
            this(pod, step, reason, at, began, false);
        }

        public enum Step {
            /** Now. */
            EVICT,
            /** It is to be told of its end, so that it can save its work. */
            SIGNAL,
            /** It was told, and has time to save its work. */
            CHECKPOINT,
            /** When its time is over. */
            DELETE,
            /** It ends by itself. */
            AWAIT,
            /** Somebody has asked for its end, which is awaited. */
            GOING,
            /** It has to go, and a person has to see to that. */
            STAYS,
            /** It is in nobody's way. */
            LEFT
        }

        /** Whether somebody has to ask for something now. */
        boolean isDue(Instant now) {
            boolean asks = step == Step.EVICT || step == Step.SIGNAL || step == Step.DELETE;
            return asks && !at.orElse(now).isAfter(now);
        }

        /** Whether the drain is not over while it is there. */
        public boolean inTheWay() {
            return step != Step.LEFT;
        }
    }
}
