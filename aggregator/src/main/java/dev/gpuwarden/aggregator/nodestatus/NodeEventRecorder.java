package dev.gpuwarden.aggregator.nodestatus;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.util.Text;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A recorder of Kubernetes Events, which creates each once. An existing name means that an earlier leader has created the
 * Event. Thread-safe.
 */
public final class NodeEventRecorder {

    private static final String COMPONENT = "gpuwarden-aggregator";
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    private final KubeClient api;
    /** The names of the Events that are still news, by node. */
    private final Map<String, Set<String>> written = new ConcurrentHashMap<>();

    public NodeEventRecorder(KubeClient api) {
        this.api = api;
    }

    /** Creates the Events. Blocks until the API server has them. An Event that it refuses is not tried again. */
    public void write(String node, List<EventObject> news) throws ApiException, InterruptedException {
        if (news.isEmpty()) {
            forget(node);
            return;
        }
        Set<String> before = written.getOrDefault(node, Set.of());
        Set<String> now = new HashSet<>();
        for (EventObject event : news) {
            if (!before.contains(event.name())) {
                create(node, event);
            }
            now.add(event.name());
        }
        written.put(node, now);
    }

    /** Forgets a node that is deleted or has no Events. */
    public void forget(String node) {
        written.remove(node);
    }

    private void create(String node, EventObject event) throws ApiException, InterruptedException {
        try {
            var unused = api.create(EVENTS, event.body(node, COMPONENT));
        } catch (ApiException e) {
            if (!e.alreadyThere() && !e.invalid()) {
                throw e;
            }
        }
    }

    /**
     * The Events that a Node must have by its state: quarantine, release, and faults that make no condition. They are a level:
     * the next leader creates Events that a killed one did not. Pure.
     */
    public static final class NodeEvent {

        /** The time for which the API server keeps Events. Older ones are no news. */
        static final Duration YOUNG = Duration.ofHours(1);

        private static final int LONGEST = 1024;

        private NodeEvent() {}

        /**
         * @param decided the Events of the Node's quarantine and drain
         * @param faults the current faults of a node that has reported all
         */
        public static List<EventObject> of(CachedNode node, List<NodeNews> decided, List<Fault> faults, Instant now) {
            List<EventObject> news = new ArrayList<>();
            decided.stream()
                    .filter(event -> young(event.at(), now))
                    .map(event -> of(node, event))
                    .forEach(news::add);
            List<StoredEvent> minor = faults.stream()
                    .filter(fault ->
                            !fault.cause().fatal() && fault.cause().strategy().actedOn())
                    .filter(fault -> young(fault.since(), now))
                    // A fault that its node's disk has not stored yet has no number. Its Event follows later.
                    .filter(fault -> fault.sequence() > 0)
                    .map(fault -> new StoredEvent(
                            fault.sequence(), fault.cause(), fault.since(), fault.since(), fault.occurrences()))
                    .toList();
            news.addAll(EventObject.of(once(minor), node.name()));
            return news;
        }

        /** Returns each event once, because one event may have raised several faults. */
        private static List<StoredEvent> once(List<StoredEvent> events) {
            Map<Long, StoredEvent> once = new TreeMap<>();
            events.forEach(event -> once.putIfAbsent(event.sequence(), event));
            return List.copyOf(once.values());
        }

        private static EventObject of(CachedNode node, NodeNews event) {
            return of(node.name(), node.uid(), event.good(), event.reason(), event.text(), event.at());
        }

        /** @param subject UID of the object whose news it is */
        public static EventObject of(
                String node, String subject, boolean good, String reason, String text, Instant at) {
            String what = String.join("\n", subject, reason, at.toString(), text);
            UUID unique = UUID.nameUUIDFromBytes(what.getBytes(StandardCharsets.UTF_8));
            return new EventObject(
                    EventObject.name(node, unique.getMostSignificantBits()),
                    good ? "Normal" : "Warning",
                    reason,
                    Text.truncate(text, LONGEST),
                    1,
                    false,
                    at,
                    at);
        }

        private static boolean young(Instant at, Instant now) {
            return at.plus(YOUNG).isAfter(now);
        }
    }
}
