package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.cli.web.WebStats;
import dev.gpuwarden.daemon.grpc.GrpcServer;
import dev.gpuwarden.daemon.holders.CachedGpuHolders;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.kernlog.KernelLogMonitor;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.metrics.AutopilotCollector;
import dev.gpuwarden.daemon.metrics.CheckCollector;
import dev.gpuwarden.daemon.metrics.Collector;
import dev.gpuwarden.daemon.metrics.DcgmCollector;
import dev.gpuwarden.daemon.metrics.EventCollector;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.metrics.PartCollectors;
import dev.gpuwarden.daemon.metrics.VramCollector;
import dev.gpuwarden.daemon.repair.ServerRepair;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.vram.watch.VramMonitor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The parts of the daemon that have metrics of their own. */
record NodeCollectors(
        CheckRunner checks,
        EventStore store,
        KernelLogMonitor kernelLog,
        GpuHolderLookup holders,
        Optional<GrpcServer> calls,
        Supplier<List<SinkStats>> sending,
        Optional<KubernetesNode> cluster,
        WebStats web,
        Optional<VramMonitor> vram,
        Optional<ServerRepair> repairs) {

    /** Returns the collectors of all parts, and those of the metrics of other exporters that settings request. */
    List<Collector> list(MetricsOptions wanted, NodeName node, NodePaths paths) {
        List<Collector> collectors = new ArrayList<>(List.of(
                new CheckCollector(checks::results, store::faults),
                PartCollectors.checkSets(checks.planned()),
                PartCollectors.store(store::status),
                new EventCollector(store::counts, store::faults),
                PartCollectors.kernelLog(kernelLog::stats),
                PartCollectors.sinks(sending),
                PartCollectors.web(web)));
        calls.map(GrpcServer::stats).map(PartCollectors::grpc).ifPresent(collectors::add);
        cluster.map(target -> PartCollectors.kubernetes(target::stats)).ifPresent(collectors::add);
        vram.map(monitor -> new VramCollector(monitor::statuses)).ifPresent(collectors::add);
        repairs.map(repair -> PartCollectors.repairs(repair::status)).ifPresent(collectors::add);
        if (wanted.dcgmNames()) {
            collectors.add(new DcgmCollector(node::get, kernelLog::lastXids, new CachedGpuHolders(holders)));
        }
        if (wanted.autopilot()) {
            collectors.add(new AutopilotCollector(node::get, NodeFacts.cpuModel(paths), checks::results));
        }
        return collectors;
    }
}
