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
import dev.gpuwarden.core.util.Threads;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Where nodes report: TLS, who may speak, bounds of connections and messages. Takes nobody before it is told to listen. */
public final class IngestServer implements AutoCloseable {

    /** A page of faults has 1 MiB at most, and one fault alone less. */
    private static final int MAX_MESSAGE_BYTES = 2 << 20;
    /** A token has about 1.5 KiB. */
    private static final int MAX_METADATA_BYTES = 16 << 10;

    private static final int WINDOW_BYTES = 256 << 10;
    /** One stream, and the next one while it is being ended. */
    private static final int MAX_CALLS = 4;
    /** A token is looked at when a connection begins: so long a stream outlives one that has expired. */
    private static final long OLDEST_MINUTES = 30;

    /** They wait for the API server while nodes greet. */
    private static final int THREADS = 16;

    private final IngestOptions options;
    private final UplinkService reports;
    private final IngestMetrics tally = new IngestMetrics();
    private final ThreadPoolExecutor threads;
    private final ScheduledExecutorService files;
    private final Server server;
    private volatile boolean listens;

    private IngestServer(
            IngestOptions options, KubeClient api, String replica, NodeHealthCache memory, WritePace pace) {
        this.options = options;
        NodeHealthClient healths = new NodeHealthClient(api, memory);
        Clock clock = Clock.systemUTC();
        PageAuthorizer visitors = new PageAuthorizer(api, System::nanoTime);
        this.reports = new UplinkService(
                healths,
                new GpuHolderRequests(api, memory, clock),
                new SignalRequests(api, memory, clock),
                new AccessReviews(
                        (token, node) -> visitors.token(token, PageRight.page(node)), tally, System::nanoTime),
                memory,
                tally,
                clock,
                replica,
                pace);
        this.threads = threads();
        this.files = Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "gpuwarden-tls-files"));
        TokenAuthenticator tokens =
                new TokenAuthenticator(api, options.audience, options.account(), options.monitors(), System::nanoTime);
        try {
            this.server = NettyServerBuilder.forAddress(options.address().resolve())
                    .sslContext(options.tls().context(files))
                    .executor(threads)
                    .intercept(new AuthInterceptor(tokens, tally))
                    .addService(reports)
                    .addService(new MonitorEventService(healths, tally, clock))
                    .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                    .maxInboundMetadataSize(MAX_METADATA_BYTES)
                    .maxConcurrentCallsPerConnection(MAX_CALLS)
                    .maxRstFramesPerWindow(200, 30)
                    .flowControlWindow(WINDOW_BYTES)
                    // Thousands may be waiting for their turn.
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
     * Under the name of this host, which in a pod is the pod's. Throws {@link UserError} where the files cannot be had.
     *
     * @param memory what is known of the cluster here, which saves requests
     */
    public static IngestServer of(IngestOptions options, KubeClient api, NodeHealthCache memory) {
        return of(options, api, hostName(), memory, WritePace.DEFAULT);
    }

    /** @param replica which of several aggregators this is, for people and to tell them apart */
    static IngestServer of(
            IngestOptions options, KubeClient api, String replica, NodeHealthCache memory, WritePace pace) {
        return new IngestServer(options, api, replica, memory, pace);
    }

    /** From now on nodes may come. Throws {@link UserError} where the address cannot be had. */
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

    private static ThreadPoolExecutor threads() {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                30,
                TimeUnit.SECONDS,
                // At most what open streams have to say: each has one task here.
                new LinkedBlockingQueue<>(),
                task -> daemon(task, "gpuwarden-ingest-" + number.incrementAndGet()));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private static Thread daemon(Runnable task, String name) {
        return Threads.daemon(name, task);
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().get(0);
    }

    public IngestMetrics tally() {
        return tally;
    }

    /** Nodes that have a stream now. */
    public int connected() {
        return reports.connected();
    }

    /** Nodes of which the API server does not take the newest. */
    public int behind() {
        return reports.behind();
    }

    private void stopThreads() {
        reports.close();
        threads.shutdownNow();
        files.shutdownNow();
    }

    /** Ends all streams, with a status that lets nodes try again. What was not acknowledged they tell again. */
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
