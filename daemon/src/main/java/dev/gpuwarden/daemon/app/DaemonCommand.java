package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.settings.CheckOptions;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.checks.verify.VerifyOptions;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.cli.run.GivenSettings;
import dev.gpuwarden.cli.run.LogOptions;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.cli.run.UncaughtErrors;
import dev.gpuwarden.cli.web.WebOptions;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.checkpoint.CheckpointOptions;
import dev.gpuwarden.daemon.grpc.GrpcOptions;
import dev.gpuwarden.daemon.grpc.GrpcServer;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.kube.KubernetesOptions;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.page.PageGuard;
import dev.gpuwarden.daemon.page.PageOptions;
import dev.gpuwarden.daemon.page.TokenReviewer;
import dev.gpuwarden.daemon.repair.RepairOptions;
import dev.gpuwarden.daemon.repair.ServerRepair;
import dev.gpuwarden.daemon.sink.SinkSettings;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.uplink.TokenReviewRequests;
import dev.gpuwarden.daemon.uplink.UplinkOptions;
import dev.gpuwarden.daemon.vram.VramOptions;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import java.util.List;
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

    final Supplier<DriverProvider> provider;
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
                Closer closer = new Closer()) {
            DaemonParts parts = new DaemonParts(this, cluster, closer);
            EventForwarding.open(parts, access, tenants);
            KernelLogWiring.open(parts, logRules);
            wanted.open(parts);
            RepairWiring.open(parts, managed, spec);
            parts.vram = budgets.start(
                    parts.sampler,
                    parts.memory,
                    paths,
                    DaemonCommands::signals,
                    node.get(),
                    events.decisionsFile(),
                    budgets.control(cluster, tenants, closer),
                    parts.holders,
                    closer);
            ServerWiring.openGrpc(parts);
            announce(ServerWiring.openWeb(parts, door), parts);
            running.await();
            parts.repairs.map(ServerRepair::closing).ifPresent(running::extend);
        }
        return ExitCode.OK;
    }

    /** Logs where the daemon writes to and answers. */
    private static void announce(WebServer server, DaemonParts parts) {
        parts.cluster.ifPresent(target -> LOG.log(System.Logger.Level.INFO, "writing " + target));
        List<String> sockets = parts.calls.map(GrpcServer::addresses).orElse(List.of());
        if (!sockets.isEmpty()) {
            LOG.log(System.Logger.Level.INFO, "answering gRPC on " + String.join(", ", sockets));
        }
        LOG.log(System.Logger.Level.INFO, "serving " + server.url() + "/metrics");
    }
}
