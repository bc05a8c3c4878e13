package dev.gpuwarden.aggregator.controller;

public enum ActionMode {
    /**
     * Decisions are made and audited, and nothing is written. There is no annotation either: the mode armed could not trust it.
     */
    DRY_RUN,
    ARMED
}
