package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.web.NettySettings;
import dev.gpuwarden.core.util.Threads;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Netty's one thread. It reads, writes and answers from memory for all connections, and must never block. */
public final class EventLoop implements AutoCloseable {

    // Held here: a collected logger would lose its level.
    private static final Logger BOOTSTRAP = Logger.getLogger("io.netty.bootstrap.Bootstrap");
    private static final Logger SERVER_BOOTSTRAP = Logger.getLogger("io.netty.bootstrap.ServerBootstrap");

    static {
        // Read once, when Netty's classes are first used. A pool would keep megabytes for a few small messages; the
        // heap is
        // there anyway.
        NettySettings.apply();
        NettySettings.property("io.netty.allocator.type", "unpooled");
        NettySettings.property("io.netty.noPreferDirect", "true");
        NettySettings.property("io.netty.recycler.maxCapacityPerThread", "0");
        // gRPC sets SO_KEEPALIVE on Unix sockets too; Netty warns of it at each connection.
        BOOTSTRAP.setLevel(Level.SEVERE);
        SERVER_BOOTSTRAP.setLevel(Level.SEVERE);
    }

    private final EventLoopGroup group =
            new MultiThreadIoEventLoopGroup(1, Threads.daemon("gpuwarden-grpc"), EpollIoHandler.newFactory());

    public EventLoop() {
        // An event loop without a scheduled task wakes up each second.
        var unused = executor().scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.DAYS);
    }

    public EventLoopGroup group() {
        return group;
    }

    /** Returns the executor of the loop's thread. */
    ScheduledExecutorService executor() {
        return group.next();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
