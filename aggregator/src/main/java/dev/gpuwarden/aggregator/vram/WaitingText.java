package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.vram.BudgetedNodes.Amount;
import dev.gpuwarden.aggregator.vram.NodeRoom.Holder;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The text of the Event of a pod that waits for VRAM: which pods hold the memory of which nodes. Pure. */
final class WaitingText {

    /** Nodes in a text. More nodes are counted. */
    static final int MOST_NODES = 8;

    /** Pods of a node in a text. More pods are counted. */
    private static final int MOST_HOLDERS = 6;

    /** Limit of an Event, less the end of the text. */
    private static final int LONGEST = 820;

    private WaitingText() {}

    /** Returns the nodes for the text: those that the pod's labels permit, the largest first. */
    static List<Amount> shown(WaitingPod pod, List<Amount> nodes) {
        return nodes.stream()
                .filter(node -> permits(pod, node))
                .sorted(Comparator.comparingLong(Amount::mib).reversed().thenComparing(Amount::node))
                .limit(MOST_NODES)
                .toList();
    }

    private static boolean permits(WaitingPod pod, Amount node) {
        return node.labels().entrySet().containsAll(pod.nodeLabels().entrySet());
    }

    /**
     * The facts about the shown nodes, by node.
     *
     * @param rooms pods with budgets; none for a node whose pods could not be read
     * @param overBudget MiB above their budgets by UID of the pod; none for a node that does not report them here
     */
    record Known(Map<String, NodeRoom> rooms, Map<String, Map<String, Long>> overBudget) {}

    /**
     * Returns the text, at most 1024 characters.
     *
     * @param nodes all nodes that have the resource
     */
    static String of(WaitingPod pod, String resource, List<Amount> nodes, Known known, Duration waited) {
        StringBuilder text = new StringBuilder("waits for ")
                .append(pod.mib())
                .append(" MiB of ")
                .append(resource)
                .append(" for ")
                .append(waited.toSeconds())
                .append(" s.");
        int named = 0;
        int withoutUse = 0;
        for (Amount node : shown(pod, nodes)) {
            String one = " " + text(node, known) + ".";
            if (text.length() + one.length() > LONGEST) {
                break;
            }
            text.append(one);
            named++;
            withoutUse += known.overBudget().containsKey(node.node()) ? 0 : 1;
        }
        if (nodes.isEmpty()) {
            text.append(" No node has the resource.");
        }
        long permitted = nodes.stream().filter(node -> permits(pod, node)).count();
        if (permitted > named) {
            text.append(" Nodes not listed: ").append(permitted - named).append('.');
        }
        if (nodes.size() > permitted) {
            text.append(" Nodes that its nodeSelector excludes: ")
                    .append(nodes.size() - permitted)
                    .append('.');
        }
        if (withoutUse > 0) {
            text.append(" Pods above their budgets are unknown on ")
                    .append(withoutUse)
                    .append(" of these nodes: see `gpuwarden vram top` there.");
        }
        return text.toString();
    }

    private static String text(Amount node, Known known) {
        String head = node.node() + (node.cordoned() ? " (cordoned)" : "") + " has " + node.mib() + " MiB";
        NodeRoom room = known.rooms().get(node.node());
        if (room == null) {
            return head + "; its pods could not be read";
        }
        if (room.holders().isEmpty()) {
            return head + ", all free";
        }
        Map<String, Long> over = known.overBudget().getOrDefault(node.node(), Map.of());
        // Those above their budgets first; the holders themselves are in the order of their budgets.
        String pods = room.holders().stream()
                .sorted(Comparator.comparingLong((Holder holder) -> over.getOrDefault(holder.uid(), 0L))
                        .reversed())
                .limit(MOST_HOLDERS)
                .map(holder -> text(holder, over.getOrDefault(holder.uid(), 0L)))
                .collect(Collectors.joining(", "));
        int more = room.holders().size() - MOST_HOLDERS;
        return head + ", " + Math.max(0, node.mib() - room.requested()) + " free; held by " + pods
                + (more > 0 ? " and " + more + " more pods" : "");
    }

    private static String text(Holder holder, long over) {
        return holder.pod() + " " + holder.mib() + (over > 0 ? " (uses " + over + " more)" : "");
    }
}
