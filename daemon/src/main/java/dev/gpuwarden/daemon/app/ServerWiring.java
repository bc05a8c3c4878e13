package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.ProbeHandler;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.cli.web.WebStats;
import dev.gpuwarden.daemon.grpc.GrpcServer;
import dev.gpuwarden.daemon.grpc.NodeSources;
import dev.gpuwarden.daemon.metrics.Exposition;
import dev.gpuwarden.daemon.metrics.MetricsHandler;
import dev.gpuwarden.daemon.metrics.Scraper;
import dev.gpuwarden.daemon.page.PageGuard;
import dev.gpuwarden.daemon.vram.watch.VramMonitor;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The wiring of the servers, gRPC and HTTP, to the parts that answer. */
final class ServerWiring {

    private ServerWiring() {}

    /** Starts the gRPC server, if a setting requests it. */
    static void openGrpc(DaemonParts parts) {
        parts.calls = parts.settings.grpc.wanted()
                ? Optional.of(parts.closer.add(GrpcServer.start(parts.settings.grpc, sources(parts))))
                : Optional.empty();
    }

    private static NodeSources sources(DaemonParts parts) {
        return new NodeSources(
                new NodeSources.Identity(
                        parts.settings.node.get(),
                        NodeFacts.bootId(parts.settings.paths.procfs()),
                        Version.program(),
                        Instant.now()),
                parts.sampler::snapshot,
                parts.memory::attribute,
                parts::tenancy,
                () -> parts.vram.map(VramMonitor::calls),
                parts.releases::open,
                parts.store,
                parts.store,
                parts.checks,
                parts.store::notStored,
                () -> EventForwarding.unreached(parts),
                parts.store::recording,
                CallingProcess.Lookup.of(parts.settings.paths),
                Clock.systemUTC());
    }

    /** Starts the web server, with metrics, probes and pages, after all parts that it shows. */
    static WebServer openWeb(DaemonParts parts, Optional<PageGuard> door) {
        DaemonCommand settings = parts.settings;
        WebStats stats = new WebStats();
        Scraper scraper = new Scraper(
                parts.sampler::snapshot,
                parts.sampler.stats(),
                parts.memory,
                new Exposition(settings.metrics, () -> NodeCollectors.of(parts, stats)));
        ProbeHandler probes = new ProbeHandler(
                parts::pending,
                // Any caller may read this, so it names no path.
                () -> parts.store.notStored().isPresent() ? "events are not stored now" : "");
        List<HttpHandler> sites = new ArrayList<>(List.of(new MetricsHandler(scraper)));
        sites.addAll(new NodePage(parts, settings.node.get(), parts.checks, parts.lines).start(door));
        return settings.web.start(probes, sites, parts.closer, stats);
    }
}
