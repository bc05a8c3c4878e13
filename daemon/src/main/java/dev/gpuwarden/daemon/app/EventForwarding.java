package dev.gpuwarden.daemon.app;

import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.sink.Forwarder;
import dev.gpuwarden.daemon.sink.SinkSettings;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.uplink.Uplink;
import dev.gpuwarden.daemon.uplink.UplinkNode;
import dev.gpuwarden.daemon.uplink.UplinkOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The parts that send events to other systems. */
final class EventForwarding {

    private EventForwarding() {}

    /** Returns the receivers that accept nothing now, with the cause. */
    static Map<String, String> unreached(List<SinkStats> sinks, Optional<KubernetesNode> kubernetes) {
        Map<String, String> unreached = new TreeMap<>();
        sinks.stream()
                .filter(sink -> !sink.lastError().isEmpty())
                .forEach(sink -> unreached.put(sink.sink(), sink.lastError()));
        kubernetes.flatMap(KubernetesNode::trouble).ifPresent(why -> unreached.put("kubernetes", why));
        return unreached;
    }

    /** Starts the configured receivers, and has the store forget receivers that are no longer configured. */
    static Supplier<List<SinkStats>> start(
            SinkSettings sinks,
            UplinkOptions uplink,
            Optional<KubernetesNode> kubernetes,
            UplinkNode node,
            EventStore store,
            Closer parts) {
        List<Forwarder> forwarders = new ArrayList<>(sinks.start(node.name(), store, store));
        kubernetes.flatMap(target -> target.startEvents(store, store)).ifPresent(forwarders::add);
        forwarders.forEach(parts::add);
        Optional<Uplink> reporting = uplink.start(node);
        reporting.ifPresent(parts::add);
        Supplier<List<SinkStats>> stats = () -> Stream.concat(
                        forwarders.stream().map(Forwarder::stats),
                        reporting.stream().map(Uplink::stats))
                .toList();
        store.keepReceivers(stats.get().stream().map(SinkStats::sink).collect(Collectors.toSet()));
        return stats;
    }
}
