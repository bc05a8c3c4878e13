package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.PageAuthorizer;
import dev.gpuwarden.aggregator.client.PageAuthorizer.PageRight;
import dev.gpuwarden.aggregator.ingest.NodeHealthWriter.WritePace;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.core.util.Threads;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The server for the reports of nodes: TLS, authentication, bounds of connections and messages. It accepts no connection before
 * {@link #listen}.
 */
public final class IngestServer implements AutoCloseable {

    /** A page of faults has 1 MiB at most, and one fault alone less. */
    private static final int MAX_MESSAGE_BYTES = 2 << 20;
    /** A token has about 1.5 KiB. */
    private static final int MAX_METADATA_BYTES = 16 << 10;

    private static final int WINDOW_BYTES = 256 << 10;
    /** One stream, and the next one while the first one ends. */
    private static final int MAX_CALLS = 4;
    /** The server checks a token when a connection begins, so a stream outlives an expired token by this time at most. */
    private static final long OLDEST_MINUTES = 30;

    /** These threads wait for the API server while nodes connect. */
    private static final int THREADS = 16;

    private final IngestOptions options;
    private final UplinkService reports;
    private final IngestMetrics metrics = new IngestMetrics();
    private final Closer requests = new Closer();
    private final ThreadPoolExecutor threads;
    private final Server server;
    private volatile boolean listens;

    /**
     * @param replica name of this aggregator, which distinguishes it from others
     * @param further see {@link #of}
     */
    IngestServer(
            IngestOptions options,
            KubeClient api,
            String replica,
            NodeHealthCache memory,
            List<? extends NodeMessageKind> further,
            WritePace pace) {
        this.options = options;
        NodeHealthClient healths = new NodeHealthClient(api, memory);
        // The replica that leads judges the age of a report by this clock.
        Clock clock = api.clock();
        PageAuthorizer visitors = new PageAuthorizer(api, System::nanoTime);
        AccessReviews reviews = requests.add(new AccessReviews(
                (token, node) -> visitors.token(token, PageRight.page(node)), metrics, System::nanoTime));
        ScheduledExecutorService questions = NodeRequests.threads();
        requests.add(questions::shutdownNow);
        List<NodeMessageKind> kinds = new ArrayList<>(List.of(
                new NodeRequests(new GpuHolderRequests(api, memory, clock).kind(), memory, metrics, questions),
                new NodeRequests(new SignalRequests(api, memory, clock).kind(), memory, metrics, questions),
                reviews));
        kinds.addAll(further);
        this.reports = new UplinkService(healths, kinds, metrics, clock, replica, pace);
        // Open streams bound the queue: each has at most one task here.
        this.threads = Threads.pool(THREADS, new LinkedBlockingQueue<>(), Threads.numbered("gpuwarden-ingest"));
        TokenAuthenticator tokens =
                new TokenAuthenticator(api, options.audience, options.account(), options.monitors(), System::nanoTime);
        try {
            this.server = NettyServerBuilder.forAddress(options.address().resolve())
                    .sslContext(options.context())
                    .executor(threads)
                    .intercept(new AuthInterceptor(tokens, metrics))
                    .addService(reports)
                    .addService(new MonitorEventService(healths, metrics, clock))
                    .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                    .maxInboundMetadataSize(MAX_METADATA_BYTES)
                    .maxConcurrentCallsPerConnection(MAX_CALLS)
                    .maxRstFramesPerWindow(200, 30)
                    .flowControlWindow(WINDOW_BYTES)
                    // Thousands may wait for their turn.
                    .handshakeTimeout(30, TimeUnit.SECONDS)
                    .maxConnectionIdle(1, TimeUnit.MINUTES)
                    .maxConnectionAge(OLDEST_MINUTES, TimeUnit.MINUTES)
                    .maxConnectionAgeGrace(1, TimeUnit.MINUTES)
                    // uplink.proto: nodes ping every 30 s. This side does too, to see that a node is gone.
                    .permitKeepAliveTime(20, TimeUnit.SECONDS)
                    .keepAliveTime(60, TimeUnit.SECONDS)
                    .build();
        } catch (RuntimeException e) {
            stopThreads();
            throw e;
        }
    }

    /**
     * Returns a server with the name of this host, which in a pod is the pod's. Throws {@link UserError} if the files are not
     * usable.
     *
     * @param memory cache of the cluster, which saves requests
     * @param further kinds of messages beside faults, events and the requests that this server always serves
     */
    public static IngestServer of(
            IngestOptions options, KubeClient api, NodeHealthCache memory, List<? extends NodeMessageKind> further) {
        return new IngestServer(options, api, hostName(), memory, further, WritePace.DEFAULT);
    }

    /** Starts to accept nodes. Throws {@link UserError} if the address is not available. */
    public IngestServer listen() {
        try {
            var unused = server.start();
        } catch (IOException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new UserError("cannot listen on " + options.address() + ": " + cause.getMessage()
                    + "; choose another --ingest.listen");
        }
        listens = true;
        return this;
    }

    public boolean listens() {
        return listens;
    }

    private static String hostName() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "aggregator";
        }
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().get(0);
    }

    public IngestMetrics metrics() {
        return metrics;
    }

    /** Returns the number of nodes that have a stream now. */
    public int connected() {
        return reports.connected();
    }

    /** Returns the number of nodes whose newest state the API server does not accept. */
    public int behind() {
        return reports.behind();
    }

    private void stopThreads() {
        reports.close();
        requests.close();
        threads.shutdownNow();
    }

    /** Ends all streams, with a status that lets nodes try again. They repeat all reports without an acknowledgement. */
    @Override
    public void close() {
        server.shutdown();
        reports.close();
        try {
            var unused = server.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.shutdownNow();
        stopThreads();
    }
}
