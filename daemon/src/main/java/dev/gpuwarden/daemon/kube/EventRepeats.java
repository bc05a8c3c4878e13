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
 * The facts about events that the event store does not keep: repetitions since the last report, and healthy events
 * that cleared no fault. They are lost with the process and bounded; then a count is too small, or a superfluous
 * Event is written.
 */
final class EventRepeats {

    private static final int MOST = 1000;
    private static final int MOST_REPEATED = 16;

    private final Map<Long, StoredEvent> repeated = new LinkedHashMap<>();
    private final Set<Long> idle = new LinkedHashSet<>();
    private final Set<String> single = new LinkedHashSet<>();

    /** The listener for {@link EventReader#listen}. */
    synchronized void add(EventChange change) {
        StoredEvent stored = change.stored();
        if (stored.event().healthy()) {
            if (change.change().effect() == Effect.REPEATED) {
                remember(idle, stored.sequence());
            }
        } else if (stored.occurrences() > 1 && published(stored)) {
            repeated.remove(stored.sequence());
            if (repeated.size() < MOST_REPEATED) {
                repeated.put(stored.sequence(), stored);
            }
        }
    }

    /** Returns true for events that may be published outside the node. */
    static boolean published(StoredEvent stored) {
        return stored.event().strategy().actedOn();
    }

    /** Returns the events that Kubernetes receives. */
    synchronized List<StoredEvent> published(List<StoredEvent> events) {
        return events.stream()
                .filter(EventRepeats::published)
                .filter(stored -> !idle.contains(stored.sequence()))
                .toList();
    }

    private static <T> void remember(Set<T> set, T one) {
        set.add(one);
        if (set.size() > MOST) {
            set.remove(set.iterator().next());
        }
    }

    /** Records that Kubernetes has this Event. */
    synchronized void sent(EventObject event) {
        if (!event.several()) {
            remember(single, event.name());
        }
    }

    /** Returns true if Kubernetes has this Event for exactly one event of this node, so that its count can be updated. */
    synchronized boolean countsOne(EventObject event) {
        return single.contains(event.name());
    }

    synchronized boolean anyRepeated() {
        return !repeated.isEmpty();
    }

    /** Returns the events repeated since the last call, and forgets them. */
    synchronized List<StoredEvent> repeated() {
        if (repeated.isEmpty()) {
            return Collections.emptyList();
        }
        List<StoredEvent> all = List.copyOf(repeated.values());
        repeated.clear();
        return all;
    }
}
