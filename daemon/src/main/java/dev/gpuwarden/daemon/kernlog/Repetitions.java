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
import java.util.function.Supplier;

/** The occurrences of one fault that become one event. Not thread-safe: the lock of {@link EventBatcher} guards it. */
final class Repetitions {

    /** The bound of different values of one detail in an event. */
    private static final int MOST_VALUES = 8;

    private static final int LONGEST_VALUE = 256;
    private static final long MOST_OCCURRENCES = 999_999_999;

    /** The properties in which repetitions agree. */
    record Key(
            String componentClass, String check, List<String> codes, List<Entity> entities, RecommendedAction action) {

        /** Every line of a storm needs it, and the compiler's own is slower. */
        @Override
        public int hashCode() {
            return 31 * codes.hashCode() + entities.hashCode();
        }
    }

    /**
     * One occurrence of a fault, or a recovery.
     *
     * @param details the details of this occurrence, severity included; empty for a recovery
     * @param event makes the event, without details. Most occurrences of a storm are only counted, and need none
     */
    record Occurrence(Key key, boolean healthy, Map<String, String> details, Supplier<HealthEvent.Builder> event) {

        static Occurrence of(HealthEvent recovery) {
            Key key = new Key(
                    recovery.componentClass(),
                    recovery.checkName(),
                    recovery.errorCodes(),
                    recovery.entities(),
                    recovery.action());
            return new Occurrence(key, true, Map.of(), recovery::toBuilder);
        }
    }

    private final Key key;
    private final Map<String, Set<String>> details = new HashMap<>();
    private Optional<Occurrence> last = Optional.empty();
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
    void add(Occurrence occurrence, String boot, LogSource.Cursor cursor) {
        count++;
        last = Optional.of(occurrence);
        bootId = boot;
        behind = cursor;
        occurrence.details().forEach((name, value) -> {
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
        HealthEvent event = last.orElseThrow().event().get().metadata(metadata).build();
        return event.withId(id(event.generated()));
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
