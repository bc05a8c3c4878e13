package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The drain that a dry run would start on a node.
 *
 * @param uid UID of the Node
 * @param at time of the decision
 */
public record DrainDryRun(String uid, boolean full, Set<String> gpus, boolean forced, String text, Instant at) {

    private static final int MOST_NAMED = 10;

    /** @param missing reason why further pods may hold the GPUs; empty if none can */
    static DrainDryRun of(
            CachedNode node, DrainAnnotation asked, List<PodPlan> plan, Optional<String> missing, Instant now) {
        List<PodPlan> inTheWay = plan.stream().filter(PodPlan::inTheWay).toList();
        List<String> words = new ArrayList<>();
        for (PodPlan each : inTheWay.subList(0, Math.min(MOST_NAMED, inTheWay.size()))) {
            words.add(switch (each.step()) {
                        case EVICT -> "would evict ";
                        case SIGNAL -> "would signal ";
                        case CHECKPOINT -> "would give time to save its work to ";
                        case DELETE -> "would give time to ";
                        case AWAIT -> "would wait for ";
                        case GOING -> "already ends: ";
                        case STAYS -> "could not touch ";
                        case LEFT -> "";
                    }
                    + each.pod().path()
                    + (each.reason().isEmpty() ? "" : " (" + each.reason() + ")"));
        }
        int more = inTheWay.size() - words.size();
        String pods = inTheWay.isEmpty() ? "no pod is in the way" : String.join("; ", words);
        return new DrainDryRun(
                node.uid(),
                asked.full().isPresent(),
                Set.copyOf(asked.gpus().keySet()),
                asked.forced(),
                "drain of " + DrainText.what(asked) + " for " + asked.why() + ": " + pods
                        + (more > 0 ? "; and " + more + " more" : "")
                        + missing.map(why -> "; would wait, because " + why).orElse(""),
                now);
    }

    /** Returns true if the dry run was of the same Node and the same drain. */
    boolean is(CachedNode node, DrainAnnotation asked) {
        return uid.equals(node.uid())
                && full == asked.full().isPresent()
                && gpus.equals(asked.gpus().keySet())
                && forced == asked.forced();
    }
}
