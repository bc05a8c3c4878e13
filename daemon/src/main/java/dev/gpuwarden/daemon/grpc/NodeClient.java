package dev.gpuwarden.daemon.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A client of the daemon's Unix socket, for commands. Create stubs from its channel; it connects on first use. */
public final class NodeClient implements AutoCloseable {

    private final EventLoop loop = new EventLoop();
    private final ManagedChannel channel;

    private NodeClient(Path socket) {
        channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(loop.group())
                .usePlaintext()
                // HTTP/2 cannot carry a path as authority.
                .overrideAuthority("localhost")
                .directExecutor()
                .build();
    }

    /** @param socket of a daemon, see {@link #DEFAULT_SOCKET} */
    public static NodeClient of(Path socket) {
        return new NodeClient(socket);
    }

    /** The default socket of the daemon. */
    public static final Path DEFAULT_SOCKET = Path.of(GrpcOptions.SOCKET);

    /**
     * Returns the channel, which has a direct executor: callbacks run on the reading thread and must not block.
     * Blocking stubs may be used.
     */
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
