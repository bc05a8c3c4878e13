package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.GpuHolderSource.Answer;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.quarantine.CurrentFaults;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The drain that a quarantine would start now. Pure, and for display.
 *
 * @param record the drain at its start
 * @param text the pods that have to leave, and the faults that request it
 * @param unknown the reason why the holders of the GPU are not known: each pod with a GPU counts as a holder. The aggregator
 *     would ask the node's daemon, which a rehearsal does not. Empty if the holders are known
 */
public record DrainRehearsal(
        DrainAnnotation record, List<PodPlan> plan, String text, Optional<String> unknown, Instant at) {

    /**
     * Returns the drain.
     *
     * @param node the Node as quarantine leaves it
     * @param current faults of the node, with the one of the rehearsal, and its GPUs
     * @param all the reason why all pods have to leave; empty if the faults alone decide
     * @param force true if senders may request that all pods leave immediately
     * @return empty if the quarantine requests no drain
     * @throws IOException if the Node's annotations cannot be read
     */
    public static Optional<DrainRehearsal> of(
            CachedNode node,
            Collection<PodView> pods,
            CurrentFaults current,
            Optional<String> all,
            DrainPolicies policies,
            boolean force,
            Clock clock)
            throws IOException {
        Instant now = clock.instant();
        DrainRequest asked = DrainRequest.of(node, current, force);
        DrainRequest request = all.isEmpty() ? asked : new DrainRequest(true, asked.gpus(), asked.forced(), all.get());
        if (request.isNone()) {
            return Optional.empty();
        }
        DrainAnnotation record = DrainAnnotation.NONE.with(request, now);
        Map<String, Set<String>> holders = Map.of();
        Optional<String> unknown = Optional.empty();
        if (!record.partial().isEmpty()) {
            Answer answer =
                    new GpuHolderSource.FromPodStatus(clock).holders(node, record.partial(), pods, record.began());
            if (answer instanceof Answer.Known known) {
                holders = known.holders();
            } else if (answer instanceof Answer.Unknown why) {
                holders = pods.stream()
                        .filter(pod -> pod.wantsGpu() && !pod.ended())
                        .collect(Collectors.toMap(PodView::path, any -> request.gpus(), (a, b) -> a));
                unknown = Optional.of(why.why());
            }
        }
        List<PodPlan> plan = DrainPlan.ofQuarantine(record, pods, holders, policies, now);
        return Optional.of(new DrainRehearsal(
                record, plan, "drain of " + DrainEvents.DrainText.what(record) + " for " + record.why(), unknown, now));
    }

    /** Returns the Node as it is when the drain has ended. */
    public Map<String, Object> drained(Map<String, Object> node) {
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(node, "metadata"));
        Map<String, Object> annotations = JsonTrees.copy(JsonTrees.object(metadata, "annotations"));
        annotations.put(NodeAnnotations.DRAIN, record.finished(at).text());
        metadata.put("annotations", annotations);
        Map<String, Object> all = new LinkedHashMap<>(node);
        all.put("metadata", metadata);
        return all;
    }

    /** Returns the time that a pod gets to save its work before its end; empty if it gets none. */
    public static Optional<Duration> notice(PodView pod, DrainPolicies policies) {
        return pod.checkpoint()
                .filter(any -> !policies.notice().isZero())
                .map(asks -> asks.grace().compareTo(policies.notice()) < 0 ? asks.grace() : policies.notice());
    }
}
