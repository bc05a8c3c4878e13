package dev.gpuwarden.core.event;

/**
 * What an event's sender wants done regardless of rules.
 *
 * @param force do it even where no rule asks for it
 * @param skip leave it out even where a rule asks for it
 */
public record Overrides(boolean force, boolean skip) {
    public static final Overrides NONE = new Overrides(false, false);
}
