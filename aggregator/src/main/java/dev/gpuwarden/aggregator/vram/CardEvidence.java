package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The most VRAM that a node can have, by facts that its daemon cannot write: labels of NVIDIA's GPU feature discovery, and the
 * GPUs that its kubelet has. An amount above it would draw all pods with budgets to one node. Pure.
 *
 * @param cards number of GPUs
 * @param cardMib memory of one
 */
record CardEvidence(long cards, long cardMib, String source) {

    /** Memory of the largest board there is: B300, 288 GB by NVIDIA's data sheet of 2025, here as GiB. */
    static final long LARGEST_BOARD_MIB = 288L << 10;

    /** No server has more; a DGX-2 has 16. */
    private static final long MOST_CARDS = 64;

    private static final long MOST_REPLICAS = 4096;

    private static final String COUNT = "nvidia.com/gpu.count";
    private static final String MEMORY = "nvidia.com/gpu.memory";
    private static final String REPLICAS = "nvidia.com/gpu.replicas";
    private static final String SHARING = "nvidia.com/gpu.sharing-strategy";
    private static final String RESOURCE = "nvidia.com/gpu";

    /**
     * Returns the evidence of a Node.
     *
     * @param reported GPUs that the node itself reports; they count where the Node has no number of them
     */
    static CardEvidence of(Map<String, Object> node, OptionalLong reported) {
        Map<String, String> labels = JsonTrees.texts(JsonTrees.object(node, "metadata"), "labels");
        long replicas = Math.min(MOST_REPLICAS, number(labels.get(REPLICAS)).orElse(1));
        OptionalLong counted = number(labels.get(COUNT));
        String from = "the label " + COUNT;
        if (counted.isEmpty()) {
            Map<String, String> capacity = JsonTrees.texts(JsonTrees.object(node, "status"), "capacity");
            OptionalLong shared = number(capacity.get(RESOURCE));
            counted = shared.isPresent() ? OptionalLong.of((shared.getAsLong() + replicas - 1) / replicas) : shared;
            from = "the capacity " + RESOURCE;
        }
        if (counted.isEmpty()) {
            counted = reported;
            from = "the node's own report";
        }
        if (counted.isEmpty()) {
            from = "no number of GPUs";
        }
        long cards = Math.min(MOST_CARDS, counted.orElse(1));
        OptionalLong memory = number(labels.get(MEMORY));
        // If MPS shares a card, the label is the part of one replica.
        long parts = "mps".equals(labels.get(SHARING)) ? replicas : 1;
        return memory.isPresent()
                ? new CardEvidence(
                        cards,
                        Math.min(LARGEST_BOARD_MIB, Math.min(LARGEST_BOARD_MIB, memory.getAsLong()) * parts),
                        from + " and the label " + MEMORY)
                : new CardEvidence(cards, LARGEST_BOARD_MIB, from + " and the largest board");
    }

    /** Returns why the node cannot have this much; empty if it can. */
    Optional<String> refusal(long mib, OptionalLong largestCardMib) {
        if (mib > cards * cardMib) {
            return Optional.of("expected at most " + cards * cardMib + " MiB, as " + cards + " GPUs of " + cardMib
                    + " MiB have by " + source + ", seen " + mib);
        }
        return largestCardMib.isPresent() && largestCardMib.getAsLong() > cardMib
                ? Optional.of("expected a largest card of at most " + cardMib + " MiB by " + source + ", seen "
                        + largestCardMib.getAsLong())
                : Optional.empty();
    }

    /** Returns a number above 0; empty for another text. */
    private static OptionalLong number(@Nullable String text) {
        OptionalLong number = text == null ? OptionalLong.empty() : ExtendedResource.parse(text);
        return number.isPresent() && number.getAsLong() > 0 ? number : OptionalLong.empty();
    }
}
