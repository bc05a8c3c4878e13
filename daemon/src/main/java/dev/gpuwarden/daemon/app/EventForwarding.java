package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.daemon.holders.GpuProcessPods;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.sink.Forwarder;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.uplink.TokenReviewRequests;
import dev.gpuwarden.daemon.uplink.Uplink;
import dev.gpuwarden.daemon.uplink.UplinkNode;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The parts that send events to other systems. */
final class EventForwarding {

    private EventForwarding() {}

    /** Returns the receivers that accept nothing now, with the cause. */
    static Map<String, String> unreached(DaemonParts parts) {
        Map<String, String> unreached = new TreeMap<>();
        parts.sending.get().stream()
                .filter(sink -> !sink.lastError().isEmpty())
                .forEach(sink -> unreached.put(sink.sink(), sink.lastError()));
        parts.cluster.flatMap(KubernetesNode::trouble).ifPresent(why -> unreached.put("kubernetes", why));
        return unreached;
    }

    /** Starts the configured receivers, and has the store forget receivers that are no longer configured. */
    static void open(DaemonParts parts, TokenReviewRequests access, VramRequests tenants) {
        EventStore store = parts.store;
        UplinkNode node = node(parts, access, tenants);
        List<Forwarder> forwarders = new ArrayList<>(parts.settings.sinks.start(node.name(), store, store));
        parts.cluster.flatMap(target -> target.startEvents(store, store)).ifPresent(forwarders::add);
        forwarders.forEach(parts.closer::add);
        Optional<Uplink> reporting = parts.settings.uplink.start(node);
        reporting.ifPresent(parts.closer::add);
        parts.sending = () -> Stream.concat(
                        forwarders.stream().map(Forwarder::stats),
                        reporting.stream().map(Uplink::stats))
                .toList();
        store.keepReceivers(parts.sending.get().stream().map(SinkStats::sink).collect(Collectors.toSet()));
    }

    private static UplinkNode node(DaemonParts parts, TokenReviewRequests access, VramRequests tenants) {
        DaemonCommand settings = parts.settings;
        GpuProcessPods pods = new GpuProcessPods(
                parts.sampler::snapshot, new ProcessOwners(settings.paths), settings.paths.devices());
        return new UplinkNode(
                settings.node.get(),
                NodeFacts.bootId(settings.paths.procfs()),
                Version.program(),
                parts.store,
                parts.store,
                Clock.systemUTC(),
                parts.sampler::gpus,
                () -> parts.holders.get().map(seen -> seen.with(pods.get())),
                settings.checkpoint.signals(DaemonCommands::signals)::send,
                access,
                tenants);
    }
}
