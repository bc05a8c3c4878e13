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
                new CheckCollector(checks::results, store::faults).collector(),
                PartCollectors.checkSets(checks.planned()),
                PartCollectors.store(store::status),
                new EventCollector(store::counts, store::faults).collector(),
                PartCollectors.kernelLog(parts.kernelLog::stats),
                PartCollectors.sinks(parts.sending),
                PartCollectors.web(web)));
        parts.calls.map(GrpcServer::stats).map(PartCollectors::grpc).ifPresent(collectors::add);
        parts.cluster.map(target -> PartCollectors.kubernetes(target::stats)).ifPresent(collectors::add);
        parts.vram
                .map(monitor -> new VramCollector(monitor::statuses, InstantSource.system()).collector())
                .ifPresent(collectors::add);
        parts.repairs.map(repair -> PartCollectors.repairs(repair::status)).ifPresent(collectors::add);
        if (wanted.dcgmNames()) {
            DcgmCollector dcgm =
                    new DcgmCollector(node::get, parts.kernelLog::lastXids, new CachedGpuHolders(parts.holders));
            collectors.add(dcgm.collector());
        }
        if (wanted.autopilot()) {
            AutopilotCollector autopilot =
                    new AutopilotCollector(node::get, NodeFacts.cpuModel(parts.settings.paths), checks::results);
            collectors.add(autopilot.collector());
        }
        return collectors;
    }
}
