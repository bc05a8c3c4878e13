package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.Threads;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * An HTTP server. One thread accepts requests and writes answers, in pieces and as fast as each client reads
 * them. Handlers run on threads of their own, within their {@link HttpHandler.Limits}. {@link WebLimits} bounds connections
 * and what clients leave unread.
 */
public final class WebServer implements AutoCloseable {

    private static final int BACKLOG = 128;
    private static final int MOST_LINE_BYTES = 4096;
    private static final int MOST_HEAD_BYTES = 16 << 10;

    static {
        NettySettings.apply();
    }

    private final EventLoopGroup loop;
    private final Channel listener;
    private final List<HandlerExecutor> executors;
    private final Supplier<Optional<SslContext>> tls;
    private final WebStats stats;
    private final Connections connections;
    private final BodyQuota bodies;

    private WebServer(
            ListenAddress address,
            String option,
            List<HttpHandler> handlers,
            Supplier<Optional<SslContext>> tls,
            WebLimits limits,
            WebStats stats) {
        this.stats = stats;
        this.tls = tls;
        executors = handlers.stream().map(HandlerExecutor::new).toList();
        connections = new Connections(limits);
        bodies = new BodyQuota(limits.bodyBytes());
        loop = new MultiThreadIoEventLoopGroup(1, Threads.daemon("gpuwarden-http"), NioIoHandler.newFactory());
        // A loop without a scheduled task wakes up each second to check whether it may end.
        var unused = loop.next().scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.DAYS);
        try {
            listener = listen(address, option);
        } catch (UserError e) {
            close();
            throw e;
        }
    }

    /**
     * Starts a server with the usual limits.
     *
     * @param handlers the first one that serves a path answers it
     * @throws UserError where the address cannot be bound
     */
    public static WebServer start(ListenAddress address, List<HttpHandler> handlers) {
        return start(address, handlers, Optional::empty, WebLimits.PAGES, new WebStats());
    }

    /**
     * Starts a server with other limits and counters.
     *
     * @param tls returns the TLS context of the next connection; empty for plain HTTP
     */
    public static WebServer start(
            ListenAddress address,
            List<HttpHandler> handlers,
            Supplier<Optional<SslContext>> tls,
            WebLimits limits,
            WebStats stats) {
        return new WebServer(address, "--web.listen-address", handlers, tls, limits, stats);
    }

    /**
     * Starts a server for the probes alone.
     *
     * @throws UserError where the address cannot be bound
     */
    static WebServer probes(ListenAddress address, ProbeHandler handler, WebStats stats) {
        return new WebServer(
                address, "--web.probe-address", List.of(handler), Optional::empty, WebLimits.PROBES, stats);
    }

    private Channel listen(ListenAddress address, String option) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false))
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(AnswerWriter.PIECE_BYTES / 2, AnswerWriter.PIECE_BYTES))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        pipeline(channel);
                    }
                });
        var bound = bootstrap.bind(address.resolve()).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new UserError("cannot listen on " + address + ": "
                    + bound.cause().getMessage() + "; choose another " + option + ", or stop the program that uses it");
        }
        return bound.channel();
    }

    private void pipeline(SocketChannel channel) {
        Optional<SslContext> secure = tls.get();
        HttpConnection connection = new HttpConnection(this, secure.isPresent());
        secure.ifPresent(context -> channel.pipeline().addLast(context.newHandler(channel.alloc())));
        channel.pipeline()
                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                        .setMaxInitialLineLength(MOST_LINE_BYTES)
                        .setMaxHeaderSize(MOST_HEAD_BYTES)))
                .addLast(new RequestReader(this, connection))
                // One request at a time, even where a client sends several together.
                .addLast(new FlowControlHandler())
                .addLast(connection);
    }

    /** Returns the address, with the port that was taken where port 0 was requested. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    /** Returns the URL; `*` stands for every address of the machine. */
    public String url() {
        InetSocketAddress address = address();
        String host = address.getAddress().isAnyLocalAddress() ? "*" : address.getHostString();
        return (tls.get().isPresent() ? "https://" : "http://") + new ListenAddress(host, address.getPort());
    }

    public WebStats stats() {
        return stats;
    }

    // ---- for connections, on the event loop's thread ----

    boolean admit(HttpConnection connection) {
        boolean admitted = connections.admit(connection);
        if (admitted) {
            stats.connected();
        }
        return admitted;
    }

    void waits(HttpConnection connection) {
        connections.waits(connection);
    }

    void remove(HttpConnection connection) {
        if (connections.remove(connection)) {
            stats.disconnected();
        }
    }

    Optional<HandlerExecutor> executor(String path) {
        return executors.stream().filter(executor -> executor.has(path)).findFirst();
    }

    boolean take(byte[] body) {
        long before = bodies.bytes();
        boolean taken = bodies.take(body);
        stats.held(bodies.bytes() - before);
        return taken;
    }

    void give(byte[] body) {
        long before = bodies.bytes();
        bodies.give(body);
        stats.held(bodies.bytes() - before);
    }

    /** Stops without waiting; requests in progress are cut off. */
    @Override
    public void close() {
        executors.forEach(HandlerExecutor::close);
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }

    /**
     * The quota of memory for answers that are being written. An array that several clients receive counts once. For the
     * event loop's thread alone.
     */
    private static final class BodyQuota {

        private final long most;
        private final Map<byte[], Integer> readers = new IdentityHashMap<>();
        private long bytes;

        BodyQuota(long most) {
            this.most = most;
        }

        /**
         * Takes memory from the quota. An array larger than the whole quota is accepted when it is the only one; a small
         * array always.
         *
         * @return false where there is no room
         */
        boolean take(byte[] body) {
            if (body.length <= AnswerWriter.PIECE_BYTES) {
                return true;
            }
            Integer others = readers.get(body);
            if (others == null) {
                if (bytes > 0 && bytes + body.length > most) {
                    return false;
                }
                bytes += body.length;
            }
            readers.put(body, others == null ? 1 : others + 1);
            return true;
        }

        void give(byte[] body) {
            Integer held = readers.remove(body);
            if (held == null) {
                return;
            }
            if (held > 1) {
                readers.put(body, held - 1);
            } else {
                bytes -= body.length;
            }
        }

        long bytes() {
            return bytes;
        }
    }
}
