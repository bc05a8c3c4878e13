package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the event store does not keep of an event: that it was told again, and that it was health where there was no fault. Lost
 * with the process, and bounded: then a count is too small, or an Event says what nobody had to know.
 */
final class EventRepeats {

    private static final int MOST = 1000;
    private static final int MOST_REPEATED = 16;

    private final Map<Long, StoredEvent> repeated = new LinkedHashMap<>();
    private final Set<Long> idle = new LinkedHashSet<>();
    private final Set<String> single = new LinkedHashSet<>();

    /** For {@link EventReader#listen}. */
    synchronized void hear(EventChange told) {
        StoredEvent stored = told.stored();
        if (stored.event().healthy()) {
            if (told.change().effect() == Effect.REPEATED) {
                remember(idle, stored.sequence());
            }
        } else if (stored.occurrences() > 1 && worthTelling(stored)) {
            repeated.remove(stored.sequence());
            if (repeated.size() < MOST_REPEATED) {
                repeated.put(stored.sequence(), stored);
            }
        }
    }

    /** Events that others than this node's own people may see. */
    static boolean worthTelling(StoredEvent stored) {
        return stored.event().strategy().actedOn();
    }

    /** What Kubernetes is to be told of. */
    synchronized List<StoredEvent> worthTelling(List<StoredEvent> events) {
        return events.stream()
                .filter(EventRepeats::worthTelling)
                .filter(stored -> !idle.contains(stored.sequence()))
                .toList();
    }

    private static <T> void remember(Set<T> set, T one) {
        set.add(one);
        if (set.size() > MOST) {
            set.remove(set.iterator().next());
        }
    }

    /** Kubernetes has this Event now. */
    synchronized void sent(EventObject event) {
        if (!event.several()) {
            remember(single, event.name());
        }
    }

    /** Whether Kubernetes has this Event, and for one event of this node alone, whose count it can take. */
    synchronized boolean countsOne(EventObject event) {
        return single.contains(event.name());
    }

    synchronized boolean anyRepeated() {
        return !repeated.isEmpty();
    }

    /** What was told again since the last call. */
    synchronized List<StoredEvent> repeated() {
        if (repeated.isEmpty()) {
            return Collections.emptyList();
        }
        List<StoredEvent> all = List.copyOf(repeated.values());
        repeated.clear();
        return all;
    }
}
