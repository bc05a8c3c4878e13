package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.deviceplugin.AllocateRequest;
import dev.gpuwarden.testkit.deviceplugin.AllocateResponse;
import dev.gpuwarden.testkit.deviceplugin.ContainerAllocateResponse;
import dev.gpuwarden.testkit.deviceplugin.Device;
import dev.gpuwarden.testkit.deviceplugin.DevicePluginGrpc;
import dev.gpuwarden.testkit.deviceplugin.DevicePluginOptions;
import dev.gpuwarden.testkit.deviceplugin.Empty;
import dev.gpuwarden.testkit.deviceplugin.ListAndWatchResponse;
import dev.gpuwarden.testkit.deviceplugin.Mount;
import dev.gpuwarden.testkit.deviceplugin.RegisterRequest;
import dev.gpuwarden.testkit.deviceplugin.RegistrationGrpc;
import dev.gpuwarden.testkit.sim.NodeControl;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Offers a node's simulated GPUs to its kubelet as `nvidia.com/gpu`: ids are UUIDs, a GPU is healthy while the table contains no
 * fault of it. A container gets the variable `NVIDIA_VISIBLE_DEVICES`, and the node's simulated driver where
 * `LD_LIBRARY_PATH` points; the driver lists all of the node's GPUs, and holds the files of the container's alone.
 *
 * <p>It runs in this process; its socket is in the node.
 */
final class DevicePlugin implements AutoCloseable {

    private static final String RESOURCE = "nvidia.com/gpu";
    private static final String SOCKET = "simulated-gpus.sock";
    private static final long POLL_MILLIS = 200;
    private static final long REGISTERING_SECONDS = 5;

    // Fields, since a logger that is garbage collected loses its level. gRPC sets an option that Unix sockets do not
    // have.
    private static final Logger BOOTSTRAP = Logger.getLogger("io.netty.bootstrap.Bootstrap");
    private static final Logger SERVER_BOOTSTRAP = Logger.getLogger("io.netty.bootstrap.ServerBootstrap");

    static {
        BOOTSTRAP.setLevel(Level.SEVERE);
        SERVER_BOOTSTRAP.setLevel(Level.SEVERE);
    }

    private final Path folder;
    private final NodeControl gpus;
    private final BooleanSupplier runs;
    private final GpuService service = new GpuService();
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("device-plugin-grpc", true), EpollIoHandler.newFactory());
    private final ScheduledExecutorService poller =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("device-plugin", true));
    private @Nullable Server server;

    /** Identity of the kubelet's socket at the last registration. */
    private @Nullable String registered;

    private DevicePlugin(Path folder, NodeControl gpus, BooleanSupplier runs) {
        this.folder = folder;
        this.gpus = gpus;
        this.runs = runs;
    }

    /**
     * @param inside a process in the node's mount namespace: paths through it are short enough for sockets
     * @param runs false while the plugin is as good as ended
     */
    static DevicePlugin start(long inside, NodeControl gpus, BooleanSupplier runs) {
        DevicePlugin plugin =
                new DevicePlugin(Path.of("/proc/" + inside + "/root/var/lib/kubelet/device-plugins"), gpus, runs);
        var unused = plugin.poller.scheduleWithFixedDelay(plugin::poll, 0, POLL_MILLIS, TimeUnit.MILLISECONDS);
        return plugin;
    }

    private void poll() {
        try {
            if (!runs.getAsBoolean()) {
                stopServing();
                registered = null;
                return;
            }
            service.update(gpus.gpus());
            Optional<String> kubelet = identity(folder.resolve("kubelet.sock"));
            // A kubelet that starts removes the sockets of all plugins.
            if (kubelet.isPresent() && !(kubelet.get().equals(registered) && Files.exists(folder.resolve(SOCKET)))) {
                serve();
                register();
                registered = kubelet.get();
            }
        } catch (IOException | StatusRuntimeException notYet) {
            // The kubelet starts or ends; the next attempt follows soon.
        }
    }

    /** Distinguishes sockets that had the same path one after the other. */
    private static Optional<String> identity(Path socket) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(socket, BasicFileAttributes.class);
            return Optional.of(attributes.fileKey() + " " + attributes.lastModifiedTime());
        } catch (IOException notThere) {
            return Optional.empty();
        }
    }

    private void serve() throws IOException {
        stopServing();
        Files.deleteIfExists(folder.resolve(SOCKET));
        server = NettyServerBuilder.forAddress(
                        new DomainSocketAddress(folder.resolve(SOCKET).toFile()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .directExecutor()
                .addService(service)
                .build()
                .start();
    }

    private void stopServing() {
        if (server != null) {
            server.shutdownNow();
            server = null;
        }
    }

    private void register() {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        new DomainSocketAddress(folder.resolve("kubelet.sock").toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(loop)
                .usePlaintext()
                // HTTP/2 cannot carry a path as the authority.
                .overrideAuthority("localhost")
                .build();
        try {
            var unused = RegistrationGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(REGISTERING_SECONDS, TimeUnit.SECONDS)
                    .register(RegisterRequest.newBuilder()
                            .setVersion("v1beta1")
                            .setEndpoint(SOCKET)
                            .setResourceName(RESOURCE)
                            .build());
        } finally {
            channel.shutdownNow();
        }
    }

    @Override
    public void close() {
        poller.shutdownNow();
        Program.uninterrupted(() -> {
            if (!poller.awaitTermination(2 * REGISTERING_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the device plugin at " + folder + " does not end");
            }
        });
        stopServing();
        var unused = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    /** The gRPC service of a device plugin: answers a kubelet from the last known state. Thread-safe. */
    static final class GpuService extends DevicePluginGrpc.DevicePluginImplBase {

        /** Folder of the node's driver, on the node and in containers. */
        private static final String ON_NODE = "/run/simulated-gpus/lib";

        private static final String IN_CONTAINER = "/usr/local/nvidia/lib64";
        private static final String TABLE = "/gpuwarden-sim.table";

        private final Set<StreamObserver<ListAndWatchResponse>> watchers = new HashSet<>();
        private ListAndWatchResponse last = ListAndWatchResponse.getDefaultInstance();

        /** Sends a new state to the watchers. */
        synchronized void update(List<NodeControl.Gpu> gpus) {
            ListAndWatchResponse now = devices(gpus);
            if (!now.equals(last)) {
                last = now;
                watchers.forEach(watcher -> watcher.onNext(now));
            }
        }

        static ListAndWatchResponse devices(List<NodeControl.Gpu> gpus) {
            ListAndWatchResponse.Builder response = ListAndWatchResponse.newBuilder();
            gpus.forEach(gpu -> response.addDevices(
                    Device.newBuilder().setID(gpu.uuid()).setHealth(gpu.fit() ? "Healthy" : "Unhealthy")));
            return response.build();
        }

        /** The driver is the node's for reading; its table is for writing, since the driver counts calls there. */
        static ContainerAllocateResponse allocation(List<String> uuids) {
            return ContainerAllocateResponse.newBuilder()
                    .putEnvs("NVIDIA_VISIBLE_DEVICES", String.join(",", uuids))
                    .putEnvs("LD_LIBRARY_PATH", IN_CONTAINER)
                    .addMounts(Mount.newBuilder()
                            .setHostPath(ON_NODE)
                            .setContainerPath(IN_CONTAINER)
                            .setReadOnly(true))
                    .addMounts(Mount.newBuilder().setHostPath(ON_NODE + TABLE).setContainerPath(IN_CONTAINER + TABLE))
                    .build();
        }

        @Override
        public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> response) {
            response.onNext(DevicePluginOptions.getDefaultInstance());
            response.onCompleted();
        }

        @Override
        public synchronized void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> response) {
            ((ServerCallStreamObserver<ListAndWatchResponse>) response).setOnCancelHandler(() -> forget(response));
            watchers.add(response);
            response.onNext(last);
        }

        private synchronized void forget(StreamObserver<ListAndWatchResponse> watcher) {
            watchers.remove(watcher);
        }

        @Override
        public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> response) {
            AllocateResponse.Builder all = AllocateResponse.newBuilder();
            request.getContainerRequestsList()
                    .forEach(one -> all.addContainerResponses(allocation(one.getDevicesIdsList())));
            response.onNext(all.build());
            response.onCompleted();
        }
    }
}
