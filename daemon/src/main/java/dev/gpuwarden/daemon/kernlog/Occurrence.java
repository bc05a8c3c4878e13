package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A fault that one record told.
 *
 * @param text the message of its event
 * @param details for the event's metadata
 * @param behind where reading goes on behind the record
 */
record Occurrence(
        Key key, Severity severity, String text, Map<String, String> details, Instant when, LogSource.Cursor behind) {

    /** What makes two of them the same, so that they are counted and not told twice. */
    record Key(Checks.Check check, String code, List<Entity> entities, RecommendedAction action) {

        boolean concerns(List<Entity> part) {
            return entities.stream().anyMatch(part::contains);
        }
    }
}
