package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.MaintenanceServiceGrpc;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.VramServiceGrpc;
import dev.gpuwarden.cli.UserError;
import io.grpc.BindableService;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.InternalNettyServerCredentials;
import io.grpc.netty.InternalProtocolNegotiator;
import io.grpc.netty.InternalProtocolNegotiators;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.netty.channel.ChannelOption;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The node's gRPC server. It serves the query socket, the socket for reported events, and TCP if configured. One
 * thread does all work that does not block.
 */
public final class GrpcServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(GrpcServer.class.getName());

    private static final int MAX_MESSAGE_BYTES = 4 << 20;
    private static final int MAX_METADATA_BYTES = 8 << 10;
    private static final int MAX_CALLS = 32;
    private static final int MAX_CONNECTIONS = 128;
    private static final int WINDOW_BYTES = 256 << 10;

    /** The name of the reflection service before 2023, which many tools still use alone. */
    private static final String OLD_REFLECTION = io.grpc.reflection.v1alpha.ServerReflectionGrpc.SERVICE_NAME;

    /** The time that unfinished calls get at the end. */
    private static final long LAST_CALLS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final EventLoop loop = new EventLoop();
    private final MemoryQuota held = new MemoryQuota(System::nanoTime);
    private final CallStats stats = new CallStats(held::held);
    private final WorkerPool storing = new WorkerPool("intake", 2, 32, stats);
    private final WorkerPool reading = new WorkerPool("queries", 2, 64, stats);
    private final WorkerPool checking = new WorkerPool("checks", 2, 4, stats);
    private final List<Server> servers = new ArrayList<>();
    private final List<HealthService> servings = new CopyOnWriteArrayList<>();
    private final List<SocketFile> files = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final NodeSources sources;
    private final AccessPolicy access;
    private final WatchHub hub;

    private GrpcServer(NodeSources sources, AccessPolicy access) {
        this.sources = sources;
        this.access = access;
        this.hub = new WatchHub(sources, loop.executor(), stats);
    }

    /** @throws UserError if a configured socket or address cannot be used */
    public static GrpcServer start(GrpcOptions options, NodeSources sources) {
        TcpListener tcp = TcpListener.of(options);
        GrpcServer server = new GrpcServer(
                sources,
                new AccessPolicy(
                        AccessPolicy.processUid(),
                        options.admins(),
                        ReporterRules.parse(options.reporters),
                        sources.callers()));
        try {
            options.querySocket().ifPresent(socket -> server.listen(socket, "--grpc.socket", true));
            options.eventSocket().ifPresent(socket -> server.listen(socket, "--events.socket", false));
            if (tcp.wanted()) {
                server.listen(tcp);
            }
            return server;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** Returns the addresses: "unix:/path" and "host:port". */
    public List<String> addresses() {
        return List.copyOf(addresses);
    }

    public CallStats stats() {
        return stats;
    }

    private void listen(GrpcOptions.Socket socket, String option, boolean queries) {
        SocketFile file = new SocketFile(socket.path(), socket.mode(), socket.group());
        try {
            SocketAddress address = new DomainSocketAddress(file.prepare().toFile());
            files.add(file);
            start(
                    address,
                    EpollServerDomainSocketChannel.class,
                    InternalProtocolNegotiators.serverPlaintext(),
                    queries);
            file.publish();
            addresses.add("unix:" + file.path());
        } catch (IOException e) {
            String what = "cannot listen on " + socket.path() + ": " + cause(e);
            if (socket.given() || socket.group().isPresent()) {
                throw new UserError(what + "; choose another " + option + ", or 'none'");
            }
            LOG.log(Level.WARNING, what + "; " + option + " chooses another, or 'none'");
        }
    }

    private void listen(TcpListener tcp) {
        try {
            Server server = start(tcp.address(), EpollServerSocketChannel.class, tcp.negotiator(), true);
            addresses.add(tcp.host() + ":" + server.getPort());
        } catch (IOException e) {
            throw new UserError(
                    "cannot listen on " + tcp.address() + ": " + cause(e) + "; choose another --grpc.listen");
        }
    }

    private Server start(
            SocketAddress address,
            Class<? extends ServerChannel> channel,
            InternalProtocolNegotiator.ProtocolNegotiator negotiator,
            boolean queries)
            throws IOException {
        HealthService serving =
                new HealthService(queries, () -> sources.notStored().get().isEmpty());
        NettyServerBuilder builder = NettyServerBuilder.forAddress(
                        address,
                        InternalNettyServerCredentials.create(
                                new ConnectionLimiter(negotiator, stats, MAX_CONNECTIONS)))
                .channelType(channel)
                .withOption(ChannelOption.SO_BACKLOG, MAX_CONNECTIONS)
                .bossEventLoopGroup(loop.group())
                .workerEventLoopGroup(loop.group())
                .directExecutor()
                .addStreamTracerFactory(CallTracer.factory(stats, held, loop.executor()))
                .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                .maxInboundMetadataSize(MAX_METADATA_BYTES)
                .maxConcurrentCallsPerConnection(MAX_CALLS)
                .maxRstFramesPerWindow(200, 30)
                .flowControlWindow(WINDOW_BYTES)
                .handshakeTimeout(10, TimeUnit.SECONDS)
                .maxConnectionIdle(10, TimeUnit.MINUTES)
                .permitKeepAliveTime(20, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true);
        // Both search for classes of OpenCensus, which is no dependency.
        InternalNettyServerBuilder.setStatsEnabled(builder, false);
        InternalNettyServerBuilder.setTracingEnabled(builder, false);
        builder.fallbackHandlerRegistry(services(serving, queries));
        Server server = builder.build().start();
        servers.add(server);
        servings.add(serving);
        return server;
    }

    private LazyServices services(HealthService serving, boolean queries) {
        LazyServices services = new LazyServices();
        services.add(HealthGrpc.SERVICE_NAME, serving::service);
        services.add(
                ServerReflectionGrpc.SERVICE_NAME, () -> RequestGuard.before(ProtoReflectionServiceV1.newInstance()));
        services.add(OLD_REFLECTION, () -> RequestGuard.before(oldReflection()));
        services.add(
                PlatformConnectorGrpc.SERVICE_NAME,
                () -> RequestGuard.before(new EventService(
                        sources, access, !queries, storing, stats, () -> servings.forEach(HealthService::update))));
        if (queries) {
            services.add(
                    NodeServiceGrpc.SERVICE_NAME,
                    () -> RequestGuard.before(new NodeService(sources, access, reading, checking, hub)));
            services.add(
                    VramServiceGrpc.SERVICE_NAME,
                    () -> RequestGuard.before(new VramService(sources, access, reading, loop.executor())));
            services.add(
                    MaintenanceServiceGrpc.SERVICE_NAME,
                    () -> RequestGuard.before(
                            new MaintenanceService(sources.releases(), access, reading, loop.executor())));
        }
        return services;
    }

    @SuppressWarnings("deprecation")
    private static BindableService oldReflection() {
        return ProtoReflectionService.newInstance();
    }

    private static String cause(IOException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return cause instanceof java.nio.file.AccessDeniedException denied
                ? "no permission for " + denied.getFile()
                : String.valueOf(cause.getMessage());
    }

    private void awaitEnd() {
        long end = System.nanoTime() + LAST_CALLS_NANOS;
        try {
            for (Server server : servers) {
                var unused = server.awaitTermination(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends calls and connections, and removes the sockets. */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        servings.forEach(HealthService::stop);
        hub.close();
        servers.forEach(Server::shutdown);
        awaitEnd();
        servers.forEach(Server::shutdownNow);
        storing.close();
        reading.close();
        checking.close();
        loop.close();
        for (SocketFile file : files) {
            try {
                file.close();
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot remove " + file.path() + ": " + e.getMessage());
            }
        }
    }

    /**
     * Services that are created on their first call. Their messages are some hundred classes, which a daemon without
     * clients need not load. Thread-safe.
     */
    static final class LazyServices extends HandlerRegistry {

        private final Map<String, Supplier<ServerServiceDefinition>> services = new LinkedHashMap<>();

        /** @param name in full; a constant, so that no class is loaded for it */
        void add(String name, Supplier<ServerServiceDefinition> recipe) {
            services.put(name, new CachedSupplier<>(recipe, CachedSupplier.FOREVER, System::nanoTime));
        }

        @Override
        public @Nullable ServerMethodDefinition<?, ?> lookupMethod(String method, @Nullable String authority) {
            int slash = method.lastIndexOf('/');
            Supplier<ServerServiceDefinition> service = slash < 0 ? null : services.get(method.substring(0, slash));
            return service == null ? null : service.get().getMethod(method);
        }

        /** Creates and returns all services, for reflection. */
        @Override
        public List<ServerServiceDefinition> getServices() {
            return services.values().stream().map(Supplier::get).toList();
        }
    }

    /**
     * The `grpc.health.v1` service. It reports whether the part behind a service works, not only whether the service
     * answers. Thread-safe.
     */
    private static final class HealthService {

        private final boolean queries;
        private final BooleanSupplier storing;
        /** Created on the first call. */
        private @Nullable HealthStatusManager statuses;

        /**
         * @param queries true if the server answers queries
         * @param storing true while the store takes events; evaluated on each call
         */
        HealthService(boolean queries, BooleanSupplier storing) {
            this.queries = queries;
            this.storing = storing;
        }

        synchronized ServerServiceDefinition service() {
            HealthStatusManager made = new HealthStatusManager();
            if (queries) {
                made.setStatus(NodeServiceGrpc.SERVICE_NAME, ServingStatus.SERVING);
            }
            statuses = made;
            return ServerInterceptors.intercept(RequestGuard.before(made.getHealthService()), new StatusUpdater());
        }

        /** Updates the status of a store that has stopped or started to take events. Queries continue without it. */
        synchronized void update() {
            if (statuses != null) {
                statuses.setStatus(
                        PlatformConnectorGrpc.SERVICE_NAME,
                        storing.getAsBoolean() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
            }
        }

        private final class StatusUpdater implements ServerInterceptor {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                update();
                return next.startCall(call, headers);
            }
        }

        /** Reports to watchers that the daemon stops. */
        synchronized void stop() {
            if (statuses != null) {
                statuses.enterTerminalState();
            }
        }
    }
}
