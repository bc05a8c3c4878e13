package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.ingest.IngestOptions;
import dev.gpuwarden.aggregator.ingest.IngestServer;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.NodeProvider;
import dev.gpuwarden.aggregator.objectmonitor.MonitorSettings;
import dev.gpuwarden.aggregator.objectmonitor.ObjectMonitor;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.vram.VramBudgets;
import dev.gpuwarden.aggregator.vram.VramNodes;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.aggregator.web.FleetPage;
import dev.gpuwarden.aggregator.web.FleetView;
import dev.gpuwarden.aggregator.web.FleetView.Decisions;
import dev.gpuwarden.aggregator.web.PageOptions;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.cli.run.GivenSettings;
import dev.gpuwarden.cli.run.LogOptions;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.cli.run.UncaughtErrors;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.ProbeHandler;
import dev.gpuwarden.cli.web.WebOptions;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.cli.web.WebStats;
import io.fabric8.kubernetes.client.Config;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command `aggregator`. It receives the reports of nodes, stores a `NodeHealth` for each, and takes nodes out of service
 * and back. It runs until SIGTERM or SIGINT.
 */
@Command(
        name = "aggregator",
        mixinStandardHelpOptions = true,
        description = "Take the reports of a cluster's nodes, keep their state in the cluster, as NodeHealth, and take"
                + " faulty nodes out of service and back, until SIGTERM or SIGINT.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped by SIGTERM or SIGINT",
            "1:a part of the program failed",
            "2:wrong usage or configuration, or a right is missing"
        })
public final class AggregatorCommand implements Callable<Integer> {

    private static final System.Logger LOG = System.getLogger(AggregatorCommand.class.getName());

    /**
     * The longest wait for the first lists before the server accepts nodes. Thousands of nodes that connect together would take
     * the processor time that the lists and the leader election need. After this time the server accepts nodes in any case: a
     * list may fail for a reason outside the nodes.
     */
    private static final Duration KNOWN = Duration.ofMinutes(1);

    private static final Duration LOOK = Duration.ofMillis(50);

    private final ShutdownSignal stop;

    @Mixin
    IngestOptions ingest = new IngestOptions();

    @Mixin
    ClusterOptions cluster = new ClusterOptions();

    @Mixin
    ControllerOptions options = new ControllerOptions();

    @Mixin
    MonitorOptions monitoring = new MonitorOptions();

    @Mixin
    VramOptions vram = new VramOptions();

    @Mixin
    WebOptions web = new WebOptions();

    @Mixin
    PageOptions page = new PageOptions();

    @Mixin
    LogOptions log = new LogOptions();

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    public AggregatorCommand(ShutdownSignal stop) {
        this.stop = stop;
    }

    @Override
    public Integer call() throws InterruptedException {
        log.install();
        UncaughtErrors.endProgram();
        LOG.log(System.Logger.Level.INFO, GivenSettings.line(spec));
        web.validate();
        ingest.validate();
        Optional<QuarantineSettings> settings = options.settings();
        Optional<DrainReconciler.Settings> drains = options.drains();
        Optional<RepairReconciler.Settings> repairs = options.repairs();
        Optional<JanitorSettings> maintenance = options.janitor();
        NodeProvider provider = options.provider();
        Optional<MonitorSettings> monitors = settings.map(set -> monitoring.settings(set.mode()));
        Optional<VramSettings> budgets = vram.settings(options.breaker::namespace);
        try (ShutdownSignal.Registration running = stop.register();
                Closer parts = new Closer()) {
            KubeClient api = parts.add(cluster.connect());
            ArmedRights.check(api, settings, drains, repairs, maintenance, budgets);
            Decisions decisions = new Decisions();
            AuditLog audits = parts.add(AuditLog.open(options.auditFile, decisions));
            Optional<Controllers> controllers = settings.map(set -> parts.add(Controllers.start(
                    api,
                    set,
                    audits,
                    drains.map(drain -> new DrainController.Draining(drain, audits::drain)),
                    repairs.map(repair -> new RepairController.Repairing(
                            repair,
                            audits::repair,
                            maintenance.map(janitor ->
                                    new JanitorController.Maintaining(janitor, provider, audits::maintenance)))))));
            Optional<ObjectMonitor> monitor = controllers.map(
                    each -> parts.add(ObjectMonitor.start(api, each.cache(), each::onLeading, monitors.orElseThrow())));
            NodeHealthCache memory = controllers.map(Controllers::memory).orElse(NodeHealthCache.NONE);
            Optional<NodeFollower> nodes =
                    budgets.filter(set -> controllers.isEmpty()).map(set -> parts.add(new NodeFollower(api)));
            Optional<VramBudgets> tenants = budgets.map(set -> parts.add(VramBudgets.start(
                    api,
                    controllers
                            .map(Controllers::cache)
                            .orElseGet(() -> nodes.orElseThrow().cache()),
                    set,
                    api.clock())));
            Optional<VramNodes> part = tenants.map(VramBudgets::nodes);
            Supplier<Set<String>> unknown = () -> controllers
                    .map(Controllers::waitingFor)
                    .or(() -> nodes.map(NodeFollower::waitingFor))
                    .orElse(Set.of());
            IngestServer server =
                    parts.add(IngestServer.of(ingest, api, memory, part.stream().toList()));
            List<HttpHandler> sites = new ArrayList<>();
            WebStats stats = new WebStats();
            sites.add(new AggregatorMetrics(server, controllers, monitor, tenants, stats));
            controllers
                    .filter(each -> web.pages())
                    .map(Controllers::view)
                    .map(view -> new FleetView(view, api, decisions::last, api.clock()))
                    .ifPresent(board -> sites.addAll(FleetPage.of(board, api, page)));
            ProbeHandler probes = new ProbeHandler(new Readiness(api, server, unknown)::pending, () -> "");
            WebServer pages = web.start(probes, sites, parts, stats);
            announce(pages);
            announceControllers(settings, drains.isPresent(), repairs.isPresent());
            LOG.log(
                    System.Logger.Level.INFO,
                    "VRAM budgets: "
                            + part.map(each -> "evictions " + vram.evictions + ", in " + each.resource())
                                    .orElse("off"));
            if (!stopsBeforeCachesSync(running, unknown)) {
                LOG.log(
                        System.Logger.Level.INFO,
                        "taking reports of nodes on "
                                + hostAndPort(server.listen().address()));
                running.await();
            }
        }
        return ExitCode.OK;
    }

    private static boolean stopsBeforeCachesSync(ShutdownSignal.Registration running, Supplier<Set<String>> waitingFor)
            throws InterruptedException {
        long end = System.nanoTime() + KNOWN.toNanos();
        while (!waitingFor.get().isEmpty() && System.nanoTime() < end) {
            if (running.await(LOOK)) {
                return true;
            }
        }
        return false;
    }

    private void announceControllers(Optional<QuarantineSettings> settings, boolean drains, boolean repairs) {
        LOG.log(
                System.Logger.Level.INFO,
                settings.map(set -> "quarantine: " + options.mode + ", as " + set.identity() + " in namespace "
                                + set.namespace())
                        .orElse("quarantine: off"));
        LOG.log(System.Logger.Level.INFO, "drain: " + (drains ? options.drain.mode : "off"));
        LOG.log(System.Logger.Level.INFO, "remediation: " + (repairs ? options.remediation.mode : "off"));
        LOG.log(
                System.Logger.Level.INFO,
                options.janitor().map(set -> "janitor: Jobs of " + set.image()).orElse("janitor: off"));
    }

    private void announce(WebServer pages) {
        LOG.log(System.Logger.Level.INFO, "serving " + pages.url() + "/metrics");
    }

    private static String hostAndPort(InetSocketAddress address) {
        String host = address.getAddress().isAnyLocalAddress() ? "*" : address.getHostString();
        return new ListenAddress(host, address.getPort()).toString();
    }

    /** The options for the connection to the API server. */
    static final class ClusterOptions {

        private static final Path TOKEN = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/token");

        @Option(
                names = "--cluster.kubeconfig",
                paramLabel = "FILE",
                description =
                        "Kubeconfig with the API server's address and credentials (default: the pod's ServiceAccount).")
        @Nullable Path kubeconfig;

        /**
         * Connects with the kubeconfig file, or with the ServiceAccount of the pod. Never uses another configuration of this
         * machine. Throws {@link UserError} if neither can be read.
         */
        KubeClient connect() {
            if (kubeconfig == null) {
                if (!Files.isReadable(TOKEN) || System.getenv("KUBERNETES_SERVICE_HOST") == null) {
                    throw new UserError("found no ServiceAccount of a pod (no " + TOKEN
                            + " or no KUBERNETES_SERVICE_HOST): give --cluster.kubeconfig");
                }
                return KubeClient.connect(Config.autoConfigure(null));
            }
            if (!Files.isReadable(kubeconfig)) {
                throw new UserError("--cluster.kubeconfig " + kubeconfig + " cannot be read");
            }
            try {
                return KubeClient.connect(Config.fromKubeconfig(kubeconfig.toFile()));
            } catch (RuntimeException e) {
                // The client's own message states only that an error occurred; its cause names the error.
                Throwable cause = e.getCause() == null ? e : e.getCause();
                throw new UserError("--cluster.kubeconfig " + kubeconfig + " cannot be used: " + cause.getMessage());
            }
        }
    }
}
