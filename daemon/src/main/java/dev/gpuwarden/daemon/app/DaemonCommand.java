package dev.gpuwarden.daemon.app;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.command.Logging;
import dev.gpuwarden.daemon.metrics.Exposition;
import dev.gpuwarden.daemon.metrics.HostName;
import dev.gpuwarden.daemon.metrics.ListenAddress;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.metrics.MetricsServer;
import dev.gpuwarden.daemon.metrics.Readiness;
import dev.gpuwarden.daemon.metrics.Scraper;
import dev.gpuwarden.daemon.metrics.WebOptions;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Runs until it is told to stop: samples every GPU and serves what it sees. */
@Command(
        name = "daemon",
        mixinStandardHelpOptions = true,
        description = "Watch the GPUs of this node and serve what is seen to Prometheus, until SIGTERM or SIGINT.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:told to stop", "2:wrong usage or configuration"})
public final class DaemonCommand implements Callable<Integer> {

    private static final System.Logger LOG = System.getLogger(DaemonCommand.class.getName());

    private final Supplier<DriverProvider> provider;
    private final Stop stop;

    @Mixin
    SamplingSettings sampling = new SamplingSettings();

    @Mixin
    NodePaths paths = new NodePaths();

    @Mixin
    WebOptions web = new WebOptions();

    @Mixin
    MetricsOptions metrics = new MetricsOptions();

    public DaemonCommand(Supplier<DriverProvider> provider) {
        this(provider, Stop.onSignal());
    }

    DaemonCommand(Supplier<DriverProvider> provider, Stop stop) {
        this.provider = provider;
        this.stop = stop;
    }

    @Override
    public Integer call() throws InterruptedException {
        Logging.install(Level.INFO);
        ListenAddress address = web.listenAddress();
        try (Stop.Registration running = stop.register();
                NodeSampler sampler = new NodeSampler(provider.get(), sampling, new PciBus(paths))) {
            sampler.start();
            Scraper scraper = new Scraper(
                    sampler::snapshot,
                    sampler.stats(),
                    new NodeMemory(new ProcessOwners(paths)),
                    new Exposition(metrics, HostName::get));
            try (MetricsServer server =
                    MetricsServer.start(address, scraper, () -> Readiness.pending(sampler.snapshot()))) {
                announce(server.address());
                running.await();
            }
        }
        return ExitCode.OK;
    }

    /** The configuration in force, and where to look. */
    private void announce(InetSocketAddress address) {
        String settings = sampling.effective().entrySet().stream()
                .filter(setting -> !setting.getValue().isEmpty())
                .map(setting -> setting.getKey().substring(2) + "=" + setting.getValue())
                .collect(Collectors.joining(" "));
        LOG.log(
                System.Logger.Level.INFO,
                settings + " path.procfs=" + paths.procfs() + " path.sysfs=" + paths.sysfs() + " path.podlogs="
                        + paths.podLogs());
        String host = address.getAddress().isAnyLocalAddress() ? "*" : address.getHostString();
        LOG.log(
                System.Logger.Level.INFO,
                "serving http://" + (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort()
                        + "/metrics");
    }
}
