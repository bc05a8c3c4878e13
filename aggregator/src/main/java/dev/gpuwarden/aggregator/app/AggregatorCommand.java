package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
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

    private final Parts parts = new Parts();

    @Mixin
    ClusterOptions cluster = new ClusterOptions();

    @Option(
            names = "--audit.file",
            paramLabel = "FILE",
            description =
                    "File for each decision with its evidence, as a line of JSON. The record is on the disk before it"
                            + " is carried out. At 64 MiB the file becomes FILE.1, up to FILE.8 (default: standard"
                            + " output).")
    @Nullable Path auditFile;

    @Mixin
    WebOptions web = new WebOptions();

    @Mixin
    LogOptions log = new LogOptions();

    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    public AggregatorCommand(ShutdownSignal stop) {
        this.stop = stop;
    }

    @Spec
    void spec(CommandSpec own) {
        spec = own;
        Parts.add(parts.all, own);
    }

    @Override
    public Integer call() throws InterruptedException {
        log.install();
        UncaughtErrors.endProgram();
        LOG.log(System.Logger.Level.INFO, GivenSettings.line(spec));
        web.validate();
        parts.all.forEach(Part::configure);
        try (ShutdownSignal.Registration running = stop.register();
                Closer open = new Closer()) {
            KubeClient api = open.add(cluster.connect());
            ArmedRights.check(api, parts.all);
            AuditLog audits = AuditLog.open(auditFile);
            Manager manager = open.add(new Manager(api));
            Replica replica = new Replica(api, manager, new NodeCache(api.clock()), audits, open);
            parts.all.forEach(part -> part.start(replica));
            parts.all.forEach(part -> part.run(replica));
            LOG.log(System.Logger.Level.INFO, "serving " + serve(replica).url() + "/metrics");
            parts.all.stream()
                    .map(Part::mode)
                    .filter(mode -> !mode.isEmpty())
                    .forEach(mode -> LOG.log(System.Logger.Level.INFO, mode));
            if (!stopsBeforeCachesSync(running, manager::waitingFor)) {
                InetSocketAddress address = parts.ingest.server().listen().address();
                LOG.log(System.Logger.Level.INFO, "taking reports of nodes on " + hostAndPort(address));
                running.await();
            }
        }
        return ExitCode.OK;
    }

    private WebServer serve(Replica replica) {
        WebStats stats = new WebStats();
        List<HttpHandler> sites = new ArrayList<>(List.of(new AggregatorMetrics(parts.all, stats)));
        if (web.pages()) {
            parts.all.forEach(part -> sites.addAll(part.pages(replica)));
        }
        Readiness readiness = new Readiness(replica.api(), parts.ingest.server(), replica.manager()::waitingFor);
        return web.start(new ProbeHandler(readiness::pending, () -> ""), sites, replica.closer(), stats);
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
