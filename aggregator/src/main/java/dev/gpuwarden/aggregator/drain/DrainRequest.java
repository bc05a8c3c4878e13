package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.quarantine.CurrentFaults;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.OpenVerification;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The drain that the faults of a node's quarantine request together.
 *
 * @param full true if all pods have to leave
 * @param gpus UUIDs of the GPUs whose pods have to leave, also if all pods have to
 * @param forced true if all pods leave immediately, whatever the policies are
 * @param why names of the faults that request the most
 * @param escalates true if all pods have to leave where it is unknown which hold the GPUs
 */
public record DrainRequest(boolean full, Set<String> gpus, boolean forced, String why, boolean escalates) {

    static final DrainRequest NONE = new DrainRequest(false, Set.of(), false, "");

    /** Creates a request that escalates. */
    public DrainRequest(boolean full, Set<String> gpus, boolean forced, String why) {
        this(full, gpus, forced, why, true);
    }

    private static final int MOST_NAMED = 3;

    public DrainRequest {
        gpus = Set.copyOf(gpus);
    }

    public boolean isNone() {
        return !full && gpus.isEmpty();
    }

    /** Returns true if each pod that leaves by the other request also leaves by this one. */
    boolean covers(DrainRequest other) {
        return full || !other.full && gpus.containsAll(other.gpus);
    }

    /**
     * Returns the answer, so that unknown holders lead to a drain of all pods only for an action on the GPU. A verification alone
     * waits for an operator.
     */
    GpuHolderSource.Answer within(GpuHolderSource.Answer answer) {
        return answer instanceof GpuHolderSource.Answer.Unknown unknown && (isNone() || !escalates)
                ? new GpuHolderSource.Answer.Asked("free the GPU by hand: " + unknown.why())
                : answer;
    }

    /**
     * Returns true if a pod has to leave for what is requested now. A drain keeps the GPUs of faults that are over, or held.
     *
     * @param answer holders of the GPUs of the drain
     */
    boolean reaches(PodView pod, DrainAnnotation drain, GpuHolderSource.Answer answer) {
        if (isNone()) {
            return false;
        }
        return full
                || drain.full().isPresent()
                || gpus.containsAll(drain.partial())
                || answer instanceof GpuHolderSource.Answer.Known known
                        && known
                                .processes()
                                .and(known.holders(), List.of(pod))
                                .getOrDefault(pod.path(), Set.of())
                                .stream()
                                .anyMatch(gpus::contains);
    }

    /**
     * Returns the drain that a Node's faults request now: none unless it is in quarantine and takes no new pods, and one of the
     * faults of its quarantine is current.
     *
     * @param current faults and GPUs of the newest NodeHealth
     * @param force true if senders may request that all pods leave immediately
     * @throws IOException if the Node's annotations cannot be read
     */
    public static DrainRequest of(CachedNode node, CurrentFaults current, boolean force) throws IOException {
        if (!drainable(node)) {
            return NONE;
        }
        List<HealthEvent> reasons = current.reasons(QuarantineSummary.holding(node));
        return reasons.isEmpty()
                ? NONE
                : of(reasons, current.gpus(), force).withRepair(node).orVerification(reasons, current);
    }

    /** Returns the request with the GPUs that are repaired, and whose verification waits because a pod has them. */
    private DrainRequest orVerification(List<HealthEvent> reasons, CurrentFaults current) {
        Set<Entity> awaited = current.awaited();
        Set<String> held = named(reasons.stream()
                .filter(event -> event.checkName().equals(OpenVerification.CHECK))
                .flatMap(event -> event.entities().stream())
                .filter(awaited::contains));
        if (full || held.isEmpty() || !current.gpus().unknown(held).isEmpty()) {
            return this;
        }
        Set<String> all = new TreeSet<>(gpus);
        all.addAll(held);
        String text = "the verification of repaired GPUs";
        return new DrainRequest(false, all, forced, why.isEmpty() ? text : why + "; " + text, !gpus.isEmpty());
    }

    private static Set<String> named(Stream<Entity> entities) {
        return entities.filter(entity -> entity.type().equals(Entity.GPU_UUID))
                .map(Entity::value)
                .filter(uuid -> !uuid.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the request with all pods if the node's repair needs that, as after a failed reset of one GPU. */
    private DrainRequest withRepair(CachedNode node) throws IOException {
        String text = node.annotations().get(NodeAnnotations.REPAIR);
        String all = text == null ? "" : JsonTrees.text(Json.readObject(text), NodeAnnotations.REPAIR_DRAIN);
        return full || all.isEmpty() ? this : new DrainRequest(true, gpus, forced, all);
    }

    /** Returns true if the node is in quarantine, takes no new pods, and has not opted out. */
    public static boolean drainable(CachedNode node) {
        return node.unschedulable()
                && QuarantineSummary.marked(node)
                && NodeAnnotations.OPT_OUT.stream()
                        .noneMatch(
                                label -> "false".equalsIgnoreCase(node.labels().get(label)));
    }

    /** @param there GPUs that the node reports: no pod leaves for a reset of another GPU, which cannot begin */
    static DrainRequest of(List<HealthEvent> events, ReportedGpus there, boolean force) {
        boolean forced = false;
        Set<String> gpus = new TreeSet<>();
        List<HealthEvent> full = new ArrayList<>();
        List<HealthEvent> partial = new ArrayList<>();
        for (HealthEvent event : events) {
            if (force && event.drain().force()) {
                forced = true;
                full.add(event);
            } else if (!event.drain().skip()) {
                Set<String> named = named(event.entities().stream());
                boolean reset = event.action() == RecommendedAction.COMPONENT_RESET && !named.isEmpty();
                if (reset && !there.unknown(named).isEmpty()) {
                    continue;
                }
                gpus.addAll(reset ? there.units().widened(named) : Set.of());
                (reset ? partial : full).add(event);
            }
        }
        return new DrainRequest(!full.isEmpty(), gpus, forced, why(full.isEmpty() ? partial : full));
    }

    private static String why(List<HealthEvent> events) {
        List<String> names = events.stream()
                .map(event -> event.checkName()
                        + (event.errorCodes().isEmpty() ? "" : " " + String.join(",", event.errorCodes())))
                .distinct()
                .toList();
        int more = names.size() - MOST_NAMED;
        return names.stream().limit(MOST_NAMED).collect(Collectors.joining("; "))
                + (more > 0 ? "; and " + more + " more" : "");
    }
}
