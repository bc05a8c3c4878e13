package dev.gpuwarden.daemon.grpc;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** The process that listens on a Unix socket, as the kernel names it to a client. */
public final class SocketListener {

    private static final int PATIENCE_SECONDS = 5;

    private SocketListener() {}

    /** Returns its number; empty if no process listens there, or one of another PID namespace. Blocks for 5 s at most. */
    public static OptionalInt pid(Path socket) {
        try (EventLoop loop = new EventLoop()) {
            ChannelFuture connection = new Bootstrap()
                    .group(loop.group())
                    .channel(EpollDomainSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(new DomainSocketAddress(socket.toFile()));
            boolean connected =
                    connection.awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS) && connection.isSuccess();
            if (!connected || !(connection.channel() instanceof EpollDomainSocketChannel channel)) {
                return OptionalInt.empty();
            }
            int pid = channel.peerCredentials().pid();
            return pid > 0 ? OptionalInt.of(pid) : OptionalInt.empty();
        } catch (IOException e) {
            return OptionalInt.empty();
        }
    }
}
