package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.aggregator.controller.ActionMode;
import java.util.Optional;

/** The mode of a part, as its option states it. */
public enum Mode {
    /** No decision is made. */
    off,
    dry_run,
    armed;

    /** Returns the mode of actions; empty if no decision is made. */
    public Optional<ActionMode> action() {
        return ActionMode.find(toString());
    }

    @Override
    public String toString() {
        return name().replace('_', '-');
    }
}
