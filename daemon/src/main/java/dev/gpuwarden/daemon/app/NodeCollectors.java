package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.cli.web.WebStats;
import dev.gpuwarden.daemon.grpc.GrpcServer;
import dev.gpuwarden.daemon.holders.CachedGpuHolders;
import dev.gpuwarden.daemon.metrics.AutopilotCollector;
import dev.gpuwarden.daemon.metrics.CheckCollector;
import dev.gpuwarden.daemon.metrics.Collector;
import dev.gpuwarden.daemon.metrics.DcgmCollector;
import dev.gpuwarden.daemon.metrics.EventCollector;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.metrics.PartCollectors;
import dev.gpuwarden.daemon.metrics.VramCollector;
import dev.gpuwarden.daemon.store.EventStore;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** The metrics of the daemon's parts. */
final class NodeCollectors {

    private NodeCollectors() {}

    /** Returns the collectors of all parts, and those of the metrics of other exporters that settings request. */
    static List<Collector> of(DaemonParts parts, WebStats web) {
        MetricsOptions wanted = parts.settings.metrics;
        NodeName node = parts.settings.node;
        CheckRunner checks = parts.checks;
        EventStore store = parts.store;
        List<Collector> collectors = new ArrayList<>(List.of(
                new Collector("check", new CheckCollector(checks::results, store::faults)::collect),
                PartCollectors.checkSets(checks.planned()),
                PartCollectors.store(store::status),
                new Collector("event", new EventCollector(store::counts, store::faults)::collect),
                PartCollectors.kernelLog(parts.kernelLog::stats),
                PartCollectors.sinks(parts.sending),
                PartCollectors.web(web)));
        parts.calls.map(GrpcServer::stats).map(PartCollectors::grpc).ifPresent(collectors::add);
        parts.cluster.map(target -> PartCollectors.kubernetes(target::stats)).ifPresent(collectors::add);
        parts.vram
                .map(monitor ->
                        new Collector("vram", new VramCollector(monitor::statuses, InstantSource.system())::collect))
                .ifPresent(collectors::add);
        parts.repairs.map(repair -> PartCollectors.repairs(repair::status)).ifPresent(collectors::add);
        if (wanted.dcgmNames()) {
            DcgmCollector dcgm =
                    new DcgmCollector(node::get, parts.kernelLog::lastXids, new CachedGpuHolders(parts.holders));
            collectors.add(new Collector("dcgm", dcgm::collect));
        }
        if (wanted.autopilot()) {
            AutopilotCollector autopilot =
                    new AutopilotCollector(node::get, NodeFacts.cpuModel(parts.settings.paths), checks::results);
            collectors.add(new Collector("autopilot", autopilot::collect));
        }
        return collectors;
    }
}
