package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;

/**
 * What is told of a node when an object matches.
 *
 * @param customAction the action's name where {@code action} is {@code CUSTOM}, else empty
 */
public record EventTemplate(
        String componentClass,
        boolean fatal,
        String message,
        RecommendedAction action,
        String customAction,
        List<String> errorCodes) {

    public EventTemplate {
        errorCodes = List.copyOf(errorCodes);
    }
}
