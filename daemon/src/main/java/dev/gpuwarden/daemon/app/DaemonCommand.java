package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.checks.access.GpuReservations;
import dev.gpuwarden.checks.history.NodeHistory;
import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.settings.CheckOptions;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.telemetry.DriverEvents;
import dev.gpuwarden.checks.telemetry.GpuIdentityStore;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.checks.verify.VerifyOptions;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.cli.run.GivenSettings;
import dev.gpuwarden.cli.run.LogOptions;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.cli.run.UncaughtErrors;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.ProbeHandler;
import dev.gpuwarden.cli.web.WebOptions;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.cli.web.WebStats;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.checkpoint.CheckpointOptions;
import dev.gpuwarden.daemon.grpc.GrpcOptions;
import dev.gpuwarden.daemon.grpc.GrpcServer;
import dev.gpuwarden.daemon.grpc.NodeSources;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.holders.GpuProcessPods;
import dev.gpuwarden.daemon.kernlog.DriverBranch;
import dev.gpuwarden.daemon.kernlog.DriverSource;
import dev.gpuwarden.daemon.kernlog.KernelLogMonitor;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.kube.KubernetesOptions;
import dev.gpuwarden.daemon.metrics.Exposition;
import dev.gpuwarden.daemon.metrics.MetricsHandler;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.metrics.Scraper;
import dev.gpuwarden.daemon.page.PageGuard;
import dev.gpuwarden.daemon.page.PageOptions;
import dev.gpuwarden.daemon.page.TokenReviewer;
import dev.gpuwarden.daemon.recorder.RecentKernelLines;
import dev.gpuwarden.daemon.repair.RepairOptions;
import dev.gpuwarden.daemon.repair.ServerRepair;
import dev.gpuwarden.daemon.sink.SinkSettings;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.FaultLogger;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.uplink.TokenReviewRequests;
import dev.gpuwarden.daemon.uplink.UplinkNode;
import dev.gpuwarden.daemon.uplink.UplinkOptions;
import dev.gpuwarden.daemon.vram.VramOptions;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import dev.gpuwarden.daemon.vram.watch.LocalCalls;
import dev.gpuwarden.daemon.vram.watch.VramMonitor;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command that runs until it is stopped: it samples every GPU, runs checks, and serves the results. */
@Command(
        name = "daemon",
        mixinStandardHelpOptions = true,
        description = "Monitor the GPUs of this node and serve the results to Prometheus, until SIGTERM or SIGINT.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:stopped by a signal", "1:a part of the program failed", "2:wrong usage or configuration"})
public final class DaemonCommand implements Callable<Integer> {

    private static final System.Logger LOG = System.getLogger(DaemonCommand.class.getName());

    private final Supplier<DriverProvider> provider;
    private final ShutdownSignal stop;

    @Mixin
    SamplingSettings sampling = new SamplingSettings();

    @Mixin
    LibrarySettings libraries = new LibrarySettings();

    @Mixin
    NodeName node = new NodeName();

    @Mixin
    NodePaths paths = new NodePaths();

    @Mixin
    WebOptions web = new WebOptions();

    @Mixin
    PageOptions pages = new PageOptions();

    @Mixin
    MetricsOptions metrics = new MetricsOptions();

    @Mixin
    StoreSettings events = new StoreSettings();

    @Mixin
    KernelLogSettings kernelLog = new KernelLogSettings();

    @Mixin
    SinkSettings sinks = new SinkSettings();

    @Mixin
    UplinkOptions uplink = new UplinkOptions();

    @Mixin
    KubernetesOptions kubernetes = new KubernetesOptions();

    @Mixin
    CheckpointOptions checkpoint = new CheckpointOptions();

    @Mixin
    CheckOptions checks = new CheckOptions();

    @Mixin
    VramOptions budgets = new VramOptions();

    @Mixin
    RepairOptions repair = new RepairOptions();

    @Mixin
    VerifyOptions verify = new VerifyOptions();

    @Mixin
    GrpcOptions grpc = new GrpcOptions();

    @Mixin
    LogOptions log = new LogOptions();

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    public DaemonCommand(Supplier<DriverProvider> provider) {
        this(provider, ShutdownSignal.onSignal());
    }

    DaemonCommand(Supplier<DriverProvider> provider, ShutdownSignal stop) {
        this.provider = provider;
        this.stop = stop;
    }

    @Override
    public Integer call() throws InterruptedException {
        log.install();
        UncaughtErrors.endProgram();
        LOG.log(System.Logger.Level.INFO, GivenSettings.line(spec));
        web.validate();
        uplink.validate();
        TokenReviewRequests access = new TokenReviewRequests();
        Optional<TokenReviewer> review = uplink.isEncrypted() ? Optional.of(access) : Optional.empty();
        Optional<PageGuard> door = web.pages() ? Optional.of(pages.door(review)) : Optional.empty();
        Optional<KubernetesNode> cluster = kubernetes.connect(node.get(), uplink.wanted(), budgets.wantsAccount());
        NodeChecks wanted = NodeChecks.of(checks, verify, node.get(), spec);
        RecordRules logRules = checks.logRules();
        kernelLog.validate();
        budgets.validate(paths);
        boolean managed = uplink.wanted() || cluster.isPresent();
        repair.validate(managed);
        VramRequests tenants = budgets.requests(uplink.wanted());
        try (ShutdownSignal.Registration running = stop.register();
                Closer parts = new Closer()) {
            NodeHistory history = new NodeHistory(sampling.fastInterval());
            NodeSampler sampler = parts.add(new NodeSampler(
                    provider.get(),
                    sampling.withProfiling(metrics.profiling()).withMemoryWatch(budgets.wanted()),
                    new PciBus(paths),
                    history));
            sampler.start();
            Logging.rewrite(new GpuLabeler(sampler::snapshot));
            // The driver opens during this. Parts that send events come after the store, and so close before it.
            EventStore store = parts.add(EventStore.open(events, Clock.systemUTC()));
            sampler.useIdentities(new GpuIdentityStore(store.gpus(), store::keepGpus));
            parts.add(new FaultLogger(store, () -> PartNames.of(sampler.snapshot())));
            cluster.ifPresent(parts::add);
            GpuHolderLookup holders = new GpuHolderLookup(
                    paths.podResources(), sampler::snapshot, GpuHolderLookup.DAEMON_PATIENCE, Clock.systemUTC());
            GpuProcessPods processPods =
                    new GpuProcessPods(sampler::snapshot, new ProcessOwners(paths), paths.devices());
            UplinkNode self = new UplinkNode(
                    node.get(),
                    NodeFacts.bootId(paths.procfs()),
                    Version.program(),
                    store,
                    store,
                    Clock.systemUTC(),
                    sampler::gpus,
                    () -> holders.get().map(seen -> seen.with(processPods.get())),
                    checkpoint.signals(DaemonCommands::signals)::send,
                    access,
                    tenants);
            Supplier<List<SinkStats>> sending = EventForwarding.start(sinks, uplink, cluster, self, store, parts);
            RecentKernelLines lines = new RecentKernelLines(Clock.systemUTC());
            KernelLogMonitor follower = parts.add(follower(sampler, store, lines, logRules));
            GpuReservations gpus = parts.add(wanted.access(sampler, store, events.path(), paths));
            GpuReleases releases = parts.add(new GpuReleases(gpus, sampler, paths.devices()));
            WorkDrivers work = new WorkDrivers(sampling, libraries, events);
            CheckRunner runner = wanted.start(sampler, history, store, follower::status, work, gpus, paths, parts);
            cluster.ifPresent(target -> ConditionSource.keep(target, store, runner, parts));
            Optional<ServerRepair> repairs =
                    repair.start(managed, RepairWiring.of(store, events, sampler, runner, paths, verify, spec), parts);
            NodeMemory memory = new NodeMemory(new ProcessOwners(paths));
            Optional<VramMonitor> vram = budgets.start(
                    sampler,
                    memory,
                    paths,
                    DaemonCommands::signals,
                    node.get(),
                    events.decisionsFile(),
                    budgets.control(cluster, tenants, parts),
                    holders,
                    parts);
            Supplier<List<VramStatus>> tenancy =
                    () -> vram.map(VramMonitor::statuses).orElse(List.of());
            Optional<LocalCalls> local = vram.map(VramMonitor::calls);
            Supplier<Map<String, String>> unreached = () -> EventForwarding.unreached(sending.get(), cluster);
            Optional<GrpcServer> calls = grpc.wanted()
                    ? Optional.of(parts.add(GrpcServer.start(
                            grpc, sources(sampler, memory, tenancy, local, releases, store, runner, unreached))))
                    : Optional.empty();
            NodePage page = new NodePage(node.get(), sampler, history, memory, tenancy, runner, store, lines);
            WebStats stats = new WebStats();
            Scraper scraper = new Scraper(
                    sampler::snapshot,
                    sampler.stats(),
                    memory,
                    new Exposition(
                            metrics,
                            () -> new NodeCollectors(
                                            runner, store, follower, holders, calls, sending, cluster, stats, vram,
                                            repairs)
                                    .list(metrics, node, paths)));
            ProbeHandler probes = new ProbeHandler(
                    () -> pending(sampler.snapshot()),
                    // Any caller may read this, so it names no path.
                    () -> store.notStored().isPresent() ? "events are not stored now" : "");
            List<HttpHandler> sites = new ArrayList<>(List.of(new MetricsHandler(scraper)));
            sites.addAll(page.start(parts, sampling.fastInterval(), door));
            WebServer server = web.start(probes, sites, parts, stats);
            cluster.ifPresent(target -> LOG.log(System.Logger.Level.INFO, "writing " + target));
            announce(server, calls.map(GrpcServer::addresses).orElse(List.of()));
            running.await();
            repairs.map(ServerRepair::closing).ifPresent(running::extend);
        }
        return ExitCode.OK;
    }

    /** Starts the kernel-log monitor; the store receives its events, and the lines receive every record. */
    private KernelLogMonitor follower(
            NodeSampler sampler, EventStore store, RecentKernelLines lines, RecordRules others) {
        DriverEvents driver = sampler.events();
        KernelLogMonitor log = new KernelLogMonitor(
                kernelLog,
                new KernelLogMonitor.Surroundings(
                        node,
                        paths,
                        DriverBranch.parser(() -> sampler.snapshot().driver()),
                        sampler::snapshot,
                        store,
                        store::faults,
                        sampler::awaitFirst,
                        new DriverSource.Feed(driver::await, driver::end),
                        lines));
        log.alsoMatch(others);
        if (checks.sets().verifiesAfterBoot()) {
            log.verifyRepairs();
        }
        log.start();
        return log;
    }

    private NodeSources sources(
            NodeSampler sampler,
            NodeMemory memory,
            Supplier<List<VramStatus>> tenancy,
            Optional<LocalCalls> calls,
            GpuReleases releases,
            EventStore store,
            CheckRegistry runner,
            Supplier<Map<String, String>> unreached) {
        return new NodeSources(
                new NodeSources.Identity(
                        node.get(), NodeFacts.bootId(paths.procfs()), Version.program(), Instant.now()),
                sampler::snapshot,
                memory::attribute,
                tenancy,
                () -> calls,
                releases::open,
                store,
                store,
                runner,
                store::notStored,
                unreached,
                store::recording,
                CallingProcess.Lookup.of(paths),
                Clock.systemUTC());
    }

    /** Logs the addresses of the servers. */
    private void announce(WebServer server, List<String> sockets) {
        if (!sockets.isEmpty()) {
            LOG.log(System.Logger.Level.INFO, "answering gRPC on " + String.join(", ", sockets));
        }
        LOG.log(System.Logger.Level.INFO, "serving " + server.url() + "/metrics");
    }

    /** Returns what is missing; empty when ready. */
    public static List<String> pending(NodeSnapshot node) {
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
