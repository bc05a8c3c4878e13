package dev.gpuwarden.daemon.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The other side of the daemon's Unix socket, for commands. Make stubs of its channel; connects when first used. */
public final class NodeClient implements AutoCloseable {

    private final EventLoop loop = new EventLoop();
    private final ManagedChannel channel;

    private NodeClient(Path socket) {
        channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(loop.group())
                .usePlaintext()
                // A path is no name that HTTP/2 could carry.
                .overrideAuthority("localhost")
                .directExecutor()
                .build();
    }

    /** @param socket of a daemon, see {@link #DEFAULT_SOCKET} */
    public static NodeClient of(Path socket) {
        return new NodeClient(socket);
    }

    /** Where a daemon listens unless it is told otherwise. */
    public static final Path DEFAULT_SOCKET = Path.of(GrpcOptions.SOCKET);

    /** With a direct executor: callbacks run on the thread that reads, and must not wait. Blocking stubs are free to. */
    public ManagedChannel channel() {
        return channel;
    }

    @Override
    public void close() {
        channel.shutdownNow();
        try {
            channel.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        loop.close();
    }
}
