package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.checks.history.NodeHistory;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.telemetry.GpuIdentityStore;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.grpc.GrpcServer;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.kernlog.KernelLogMonitor;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.recorder.RecentKernelLines;
import dev.gpuwarden.daemon.repair.ServerRepair;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.FaultLogger;
import dev.gpuwarden.daemon.vram.watch.VramMonitor;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The open parts of a daemon that other parts use. Sampler and store are open from the start. Each other part sets its own field
 * when {@link DaemonCommand} opens it, and may use those that were opened before.
 */
@SuppressWarnings("NullAway.Init")
final class DaemonParts {

    /** The settings of all parts. */
    final DaemonCommand settings;

    /** Closes the parts in the reverse of the order in which they opened. */
    final Closer closer;

    /** Empty if the daemon writes nothing to Kubernetes itself. */
    final Optional<KubernetesNode> cluster;

    final NodeHistory history;
    final NodeSampler sampler;
    final EventStore store;
    final NodeMemory memory;
    final GpuHolderLookup holders;
    Supplier<List<SinkStats>> sending;
    RecentKernelLines lines;
    KernelLogMonitor kernelLog;
    GpuReleases releases;
    CheckRunner checks;
    Optional<ServerRepair> repairs;
    Optional<VramMonitor> vram;
    Optional<GrpcServer> calls;

    /** Opens sampler and store. The connection to Kubernetes is open, and closes with the parts. */
    DaemonParts(DaemonCommand settings, Optional<KubernetesNode> cluster, Closer closer) {
        this.settings = settings;
        this.cluster = cluster;
        this.closer = closer;
        history = new NodeHistory(settings.sampling.fastInterval(), System::nanoTime);
        sampler = closer.add(new NodeSampler(
                settings.provider.get(),
                settings.sampling
                        .withProfiling(settings.metrics.profiling())
                        .withMemoryWatch(settings.budgets.wanted()),
                new PciBus(settings.paths),
                history));
        sampler.start();
        Logging.rewrite(new GpuLabeler(sampler::snapshot, System::nanoTime));
        // The driver opens during this. Parts that send events come after the store, and so close before it.
        store = closer.add(EventStore.open(settings.events, Clock.systemUTC()));
        sampler.useIdentities(new GpuIdentityStore(store.gpus(), store::keepGpus));
        closer.add(new FaultLogger(store, () -> PartNames.of(sampler.snapshot())));
        cluster.ifPresent(closer::add);
        memory = new NodeMemory(new ProcessOwners(settings.paths));
        holders = new GpuHolderLookup(
                settings.paths.podResources(), sampler::snapshot, GpuHolderLookup.DAEMON_PATIENCE, Clock.systemUTC());
    }

    /** Returns the state of the VRAM budgets; empty without the watchdog. */
    List<VramStatus> tenancy() {
        return vram.map(VramMonitor::statuses).orElse(List.of());
    }

    /** Returns what is missing; empty when ready. */
    List<String> pending() {
        NodeSnapshot node = sampler.snapshot();
        List<String> pending = new ArrayList<>();
        if (node.driver() instanceof NodeSnapshot.DriverState.Opening) {
            pending.add("the driver is being opened");
        }
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.state() == GpuState.STARTING) {
                pending.add(gpu.identity().label() + " was not read yet");
            }
        }
        return pending;
    }
}
