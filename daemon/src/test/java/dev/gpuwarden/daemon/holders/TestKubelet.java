package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.api.podresources.CDIDevice;
import dev.gpuwarden.api.podresources.ClaimResource;
import dev.gpuwarden.api.podresources.ContainerDevices;
import dev.gpuwarden.api.podresources.ContainerResources;
import dev.gpuwarden.api.podresources.DynamicResource;
import dev.gpuwarden.api.podresources.ListPodResourcesRequest;
import dev.gpuwarden.api.podresources.ListPodResourcesResponse;
import dev.gpuwarden.api.podresources.PodResources;
import dev.gpuwarden.api.podresources.PodResourcesListerGrpc;
import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A kubelet with scripted answers, on a real socket. */
public final class TestKubelet implements AutoCloseable {

    public final AtomicInteger asked = new AtomicInteger();
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final Server server;
    private volatile ListPodResourcesResponse answer = ListPodResourcesResponse.getDefaultInstance();
    private volatile boolean silent;
    private volatile Optional<Status> refusal = Optional.empty();

    public TestKubelet(Path socket) throws IOException {
        this(socket, Optional.empty());
    }

    /**
     * Starts a server.
     *
     * @param instead another service that listens on the socket
     */
    TestKubelet(Path socket, Optional<BindableService> instead) throws IOException {
        server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .directExecutor()
                .addService(instead.orElseGet(Lister::new))
                .build()
                .start();
    }

    private final class Lister extends PodResourcesListerGrpc.PodResourcesListerImplBase {
        @Override
        public void list(ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> response) {
            asked.incrementAndGet();
            if (refusal.isPresent()) {
                response.onError(refusal.get().asRuntimeException());
            } else if (!silent) {
                response.onNext(answer);
                response.onCompleted();
            }
        }
    }

    public void says(PodResources... pods) {
        answer = told(pods);
    }

    void neverAnswers() {
        silent = true;
    }

    void refuses(Status status) {
        refusal = Optional.of(status);
    }

    static ListPodResourcesResponse told(PodResources... pods) {
        return ListPodResourcesResponse.newBuilder()
                .addAllPodResources(List.of(pods))
                .build();
    }

    /** Returns a pod of one container "main" with these devices of a device plugin. */
    public static PodResources pod(String name, String resource, String... ids) {
        return pod(
                name,
                ContainerResources.newBuilder()
                        .addDevices(ContainerDevices.newBuilder()
                                .setResourceName(resource)
                                .addAllDeviceIds(List.of(ids))));
    }

    static PodResources pod(String name, ContainerResources.Builder container) {
        return PodResources.newBuilder()
                .setNamespace("ml")
                .setName(name)
                .addContainers(container.setName("main"))
                .build();
    }

    static ContainerResources.Builder claimed(String driver, String device, String cdi) {
        return ContainerResources.newBuilder()
                .addDynamicResources(DynamicResource.newBuilder()
                        .setClaimNamespace("ml")
                        .setClaimName("two-gpus")
                        .addClaimResources(ClaimResource.newBuilder()
                                .setDriverName(driver)
                                .setPoolName("node-1")
                                .setDeviceName(device)
                                .addCdiDevices(CDIDevice.newBuilder().setName(cdi))));
    }

    @Override
    public void close() {
        server.shutdownNow();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
