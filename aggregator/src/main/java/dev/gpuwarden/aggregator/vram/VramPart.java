package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.api.v1.NodeReport;

/** The receiver of the messages of nodes about VRAM. Thread-safe; no method blocks. */
public interface VramPart {

    /** Serves no node. */
    VramPart NONE = new VramPart() {
        @Override
        public String resource() {
            return "";
        }

        @Override
        public void joined(String node, String resource, NodeLink link) {}

        @Override
        public void left(String node, NodeLink link) {}

        @Override
        public void received(String node, NodeLink link, NodeReport report) {}
    };

    /** Returns the extended resource that this program serves; empty if it serves none. */
    String resource();

    /**
     * Begins to serve a node, which replaces its earlier link.
     *
     * @param node the node that the stream has proven
     * @param resource the extended resource that the node uses; empty if it requests no budgets
     */
    void joined(String node, String resource, NodeLink link);

    /** Ends to serve a node, unless it has another link by now. */
    void left(String node, NodeLink link);

    /** @param report a valid Advertise, Evict or OverBudget */
    void received(String node, NodeLink link, NodeReport report);
}
