package dev.gpuwarden.aggregator.controller;

public enum ActionMode {
    /** Everything is decided and told, nothing is written: no annotation either, which arming would have to mistrust. */
    DRY_RUN,
    ARMED
}
