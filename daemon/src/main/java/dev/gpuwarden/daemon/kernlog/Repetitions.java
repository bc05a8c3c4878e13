package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The occurrences of one fault that become one event. Not thread-safe: the lock of {@link EventBatcher} guards it. */
final class Repetitions {

    /** The bound of different values of one detail in an event. */
    private static final int MOST_VALUES = 8;

    private static final int LONGEST_VALUE = 256;
    private static final long MOST_OCCURRENCES = 999_999_999;

    /** The properties in which repetitions agree. */
    record Key(
            String componentClass, String check, List<String> codes, List<Entity> entities, RecommendedAction action) {
        static Key of(HealthEvent event) {
            return new Key(
                    event.componentClass(), event.checkName(), event.errorCodes(), event.entities(), event.action());
        }
    }

    private final Key key;
    private final Map<String, Set<String>> details = new HashMap<>();
    private Optional<HealthEvent> last = Optional.empty();
    private String bootId = "";
    private LogSource.Cursor behind = () -> "";
    private long count;
    private long quietUntil;

    /** @param now the time from which the first event is due */
    Repetitions(Key key, long now) {
        this.key = key;
        quietUntil = now;
    }

    boolean isEmpty() {
        return count == 0;
    }

    long count() {
        return count;
    }

    /** Returns the time from which the next event is due, in nanoseconds of the batcher's clock. */
    long quietUntil() {
        return quietUntil;
    }

    void quietUntil(long nanos) {
        quietUntil = nanos;
    }

    /** @param cursor the position behind the record */
    void add(HealthEvent event, String boot, LogSource.Cursor cursor) {
        count++;
        last = Optional.of(event);
        bootId = boot;
        behind = cursor;
        event.metadata().forEach((name, value) -> {
            Set<String> values = details.computeIfAbsent(name, n -> new LinkedHashSet<>());
            if (values.size() < MOST_VALUES) {
                values.add(value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE));
            }
        });
    }

    void clear() {
        count = 0;
        last = Optional.empty();
        details.clear();
    }

    /** Returns the last occurrence's event with the details and the number of all; the severity is the first one's. */
    HealthEvent event() {
        Map<String, String> metadata = new HashMap<>();
        details.forEach((name, values) -> metadata.put(
                name,
                name.equals(KernelMessageClassifier.SEVERITY)
                        ? values.iterator().next()
                        : String.join(",", values)));
        if (count > 1) {
            metadata.put(StoredEvent.OCCURRENCES, Long.toString(Math.min(count, MOST_OCCURRENCES)));
        }
        HealthEvent event = last.orElseThrow();
        return event.toBuilder().id(id(event.generated())).metadata(metadata).build();
    }

    /**
     * Returns the same id for the same record, in any process. Files have coarse times, so the position distinguishes equal lines
     * of one second.
     */
    private String id(Instant generated) {
        String text =
                String.join("|", bootId, behind.text(), generated.toString(), key.toString(), Long.toString(count));
        return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
