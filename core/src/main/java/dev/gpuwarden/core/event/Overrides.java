package dev.gpuwarden.core.event;

/**
 * An action that the sender requests or forbids regardless of rules.
 *
 * @param force act even if no rule applies
 * @param skip do not act even if a rule applies
 */
public record Overrides(boolean force, boolean skip) {
    public static final Overrides NONE = new Overrides(false, false);
}
