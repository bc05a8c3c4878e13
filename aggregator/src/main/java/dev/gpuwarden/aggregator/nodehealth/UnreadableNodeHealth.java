package dev.gpuwarden.aggregator.nodehealth;

/** A `NodeHealth` that is not as this program writes them. The message names the field, what was expected and what was seen. */
public final class UnreadableNodeHealth extends Exception {

    private static final long serialVersionUID = 1;

    UnreadableNodeHealth(String message) {
        super(message);
    }
}
