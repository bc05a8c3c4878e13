package dev.gpuwarden.aggregator.nodestatus;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
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

/** Makes Events of Kubernetes, each once: a name that is there already was told by whoever was here before. Thread-safe. */
public final class NodeEventRecorder {

    private static final String COMPONENT = "gpuwarden-aggregator";
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    private final KubeClient api;
    /** By node, those that are still news. */
    private final Map<String, Set<String>> told = new ConcurrentHashMap<>();

    public NodeEventRecorder(KubeClient api) {
        this.api = api;
    }

    /** Blocks until the API server has them. One that it refuses is not tried again. */
    public void tell(String node, List<EventObject> news) throws ApiException, InterruptedException {
        if (news.isEmpty()) {
            forget(node);
            return;
        }
        Set<String> before = told.getOrDefault(node, Set.of());
        Set<String> now = new HashSet<>();
        for (EventObject event : news) {
            if (!before.contains(event.name())) {
                create(node, event);
            }
            now.add(event.name());
        }
        told.put(node, now);
    }

    /** There is no such Node any more, or nothing to say of it. */
    public void forget(String node) {
        told.remove(node);
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
     * Which Events a Node should have because of how it is: that it is in quarantine or was given back, and its faults that make no
     * condition. A level, so that what was not told because the program was killed is told by the next. Pure.
     */
    public static final class NodeEvent {

        /** As long as the API server keeps Events. What is older is no news. */
        static final Duration YOUNG = Duration.ofHours(1);

        private static final int LONGEST = 1024;

        private NodeEvent() {}

        /**
         * @param decided what there is to say of the Node's quarantine and drain
         * @param faults current ones of a node that has told all
         */
        public static List<EventObject> of(
                CachedNode node, List<QuarantineEvents> decided, List<Fault> faults, Instant now) {
            List<EventObject> news = new ArrayList<>();
            decided.stream()
                    .filter(said -> young(said.at(), now))
                    .map(said -> of(node, said))
                    .forEach(news::add);
            List<StoredEvent> minor = faults.stream()
                    .filter(fault ->
                            !fault.cause().fatal() && fault.cause().strategy().actedOn())
                    .filter(fault -> young(fault.since(), now))
                    // One that its node's disk has not taken yet has no number, and is told when it has.
                    .filter(fault -> fault.sequence() > 0)
                    .map(fault -> new StoredEvent(
                            fault.sequence(), fault.cause(), fault.since(), fault.since(), fault.occurrences()))
                    .toList();
            news.addAll(EventObject.of(once(minor), node.name()));
            return news;
        }

        /** One event may have raised several faults. */
        private static List<StoredEvent> once(List<StoredEvent> events) {
            Map<Long, StoredEvent> once = new TreeMap<>();
            events.forEach(event -> once.putIfAbsent(event.sequence(), event));
            return List.copyOf(once.values());
        }

        private static EventObject of(CachedNode node, QuarantineEvents said) {
            String text = Text.truncate(said.text(), LONGEST);
            String what = String.join("\n", node.uid(), said.reason(), said.at().toString(), said.text());
            UUID unique = UUID.nameUUIDFromBytes(what.getBytes(StandardCharsets.UTF_8));
            String name = EventObject.name(node.name(), unique.getMostSignificantBits());
            return new EventObject(
                    name, said.good() ? "Normal" : "Warning", said.reason(), text, 1, false, said.at(), said.at());
        }

        private static boolean young(Instant at, Instant now) {
            return at.plus(YOUNG).isAfter(now);
        }
    }
}
