package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What the events that hold a node in quarantine ask for, all together.
 *
 * @param full whether all pods have to go
 * @param gpus whose pods have to go, whether all have to or not
 * @param forced whether all go at once, whatever policies say
 * @param why the events that ask for most of it
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
     * What is asked for on a Node: nothing unless it is in quarantine and takes no new pods.
     *
     * @param force whether senders may have all pods go at once
     * @throws IOException where what is written on it cannot be read
     */
    public static DrainRequest of(CachedNode node, boolean force) throws IOException {
        return drainable(node) ? of(QuarantineSummary.holding(node), force) : NONE;
    }

    /** Whether it is in quarantine, takes no new pods, and is any of our business. */
    static boolean drainable(CachedNode node) {
        return node.unschedulable()
                && QuarantineSummary.marked(node)
                && NodeAnnotations.OPT_OUT.stream()
                        .noneMatch(
                                label -> "false".equalsIgnoreCase(node.labels().get(label)));
    }

    static DrainRequest of(List<HealthEvent> events, boolean force) {
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
                gpus.addAll(reset ? named : List.of());
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
