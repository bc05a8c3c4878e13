package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.vram.BudgetedNodes.Amount;
import dev.gpuwarden.aggregator.vram.NodeRoom.Holder;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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
     * Returns the text, at most 1024 characters.
     *
     * @param nodes all nodes that have the resource
     * @param rooms pods of the shown nodes, by node
     */
    static String of(
            WaitingPod pod, String resource, List<Amount> nodes, Map<String, NodeRoom> rooms, Duration waited) {
        StringBuilder text = new StringBuilder("waits for ")
                .append(pod.mib())
                .append(" MiB of ")
                .append(resource)
                .append(" for ")
                .append(waited.toSeconds())
                .append(" s.");
        int named = 0;
        for (Amount node : shown(pod, nodes)) {
            String one = " " + text(node, rooms.get(node.node())) + ".";
            if (text.length() + one.length() > LONGEST) {
                break;
            }
            text.append(one);
            named++;
        }
        long permitted = nodes.stream().filter(node -> permits(pod, node)).count();
        long others = nodes.size() - permitted;
        if (nodes.isEmpty()) {
            text.append(" No node has the resource.");
        }
        if (permitted > named) {
            text.append(" Nodes not listed: ").append(permitted - named).append('.');
        }
        if (others > 0) {
            text.append(" Nodes that its nodeSelector excludes: ")
                    .append(others)
                    .append('.');
        }
        return text.append(" Budgets count here, not use: for use, see `gpuwarden vram top` on the node.")
                .toString();
    }

    private static String text(Amount node, @Nullable NodeRoom room) {
        String head = node.node() + (node.cordoned() ? " (cordoned)" : "") + " has " + node.mib() + " MiB";
        if (room == null) {
            return head + "; its pods could not be read";
        }
        if (room.holders().isEmpty()) {
            return head + ", all free";
        }
        List<Holder> holders = room.holders();
        String pods = holders.stream()
                .limit(MOST_HOLDERS)
                .map(holder -> holder.pod() + " " + holder.mib())
                .collect(Collectors.joining(", "));
        int more = holders.size() - MOST_HOLDERS;
        return head + ", " + Math.max(0, node.mib() - room.requested()) + " free; held by " + pods
                + (more > 0 ? " and " + more + " more pods" : "");
    }
}
