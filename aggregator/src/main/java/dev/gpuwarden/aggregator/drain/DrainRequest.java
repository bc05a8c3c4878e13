package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ResetUnits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The drain that the faults of a node's quarantine request together.
 *
 * @param full true if all pods have to leave
 * @param gpus UUIDs of the GPUs whose pods have to leave, also if all pods have to
 * @param forced true if all pods leave immediately, whatever the policies are
 * @param why names of the faults that request the most
 */
public record DrainRequest(boolean full, Set<String> gpus, boolean forced, String why) {

    static final DrainRequest NONE = new DrainRequest(false, Set.of(), false, "");

    private static final int MOST_NAMED = 3;

    public DrainRequest {
        gpus = Set.copyOf(gpus);
    }

    public boolean isNone() {
        return !full && gpus.isEmpty();
    }

    /**
     * Returns the drain that a Node's faults request: none unless it is in quarantine and takes no new pods.
     *
     * @param units GPUs that can only be reset together
     * @param force true if senders may request that all pods leave immediately
     * @throws IOException if the Node's annotations cannot be read
     */
    public static DrainRequest of(CachedNode node, ResetUnits units, boolean force) throws IOException {
        return drainable(node)
                ? of(QuarantineSummary.holding(node), units, force).withRepair(node)
                : NONE;
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

    static DrainRequest of(List<HealthEvent> events, ResetUnits units, boolean force) {
        boolean forced = false;
        Set<String> gpus = new TreeSet<>();
        List<HealthEvent> full = new ArrayList<>();
        List<HealthEvent> partial = new ArrayList<>();
        for (HealthEvent event : events) {
            if (force && event.drain().force()) {
                forced = true;
                full.add(event);
            } else if (!event.drain().skip()) {
                List<String> named = event.entities().stream()
                        .filter(entity -> entity.type().equals(Entity.GPU_UUID))
                        .map(Entity::value)
                        .filter(uuid -> !uuid.isEmpty())
                        .toList();
                boolean reset = event.action() == RecommendedAction.COMPONENT_RESET && !named.isEmpty();
                gpus.addAll(reset ? units.widened(named) : Set.of());
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
