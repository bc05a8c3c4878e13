package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.cli.Mode;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

public enum ActionMode {
    /**
     * Decisions are made and audited, and nothing is written. There is no annotation either: the mode armed could not trust it.
     */
    DRY_RUN,
    ARMED;

    public static ActionMode of(boolean armed) {
        return armed ? ARMED : DRY_RUN;
    }

    /** Returns the mode of actions; empty if no decision is made. */
    public static Optional<ActionMode> of(Mode mode) {
        return mode == Mode.off ? Optional.empty() : Optional.of(of(mode == Mode.armed));
    }

    /** Returns the mode as the options spell it: `dry-run` or `armed`. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the mode of a {@link #label}; empty for another text. */
    public static Optional<ActionMode> find(String label) {
        return Stream.of(values()).filter(each -> each.label().equals(label)).findFirst();
    }
}
