package dev.gpuwarden.cli.web;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection: a request, its answer by the {@link AnswerWriter}, and the next request. Each step has a time limit, and a
 * client that exceeds it loses the connection. Everything but the handler itself runs on the event loop's thread.
 */
final class HttpConnection extends SimpleChannelInboundHandler<RequestReader.Arrival>
        implements Connections.Connection {

    /** Limit for a request on a new connection, and for a body; a streamed answer has as much time beyond its own limit. */
    private static final long FIRST_REQUEST_SECONDS = 5;

    private static final long NEXT_REQUEST_SECONDS = 30;
    private static final long HANDLER_SECONDS = 20;
    private static final long WRITING_SECONDS = 15;
    private static final long LINGER_SECONDS = 1;

    private final WebServer server;
    private final boolean secure;
    private @Nullable ChannelHandlerContext context;
    private InetAddress peer = InetAddress.getLoopbackAddress();
    private boolean busy;
    private boolean keepAlive;
    private boolean headOnly;
    private boolean lingers;
    private @Nullable AnswerWriter writer;
    private @Nullable Future<?> deadline;

    /** @param secure whether its pipeline begins with TLS */
    HttpConnection(WebServer server, boolean secure) {
        this.server = server;
        this.secure = secure;
    }

    @Override
    public InetAddress peer() {
        return peer;
    }

    @Override
    public boolean busy() {
        return busy;
    }

    @Override
    public void evict() {
        server.stats().refused(WebStats.Refusal.EVICTED, peer);
        close();
    }

    // ---- the connection ----

    @Override
    public void channelActive(ChannelHandlerContext opened) {
        context = opened;
        writer = new AnswerWriter(opened, server, this::answered);
        if (opened.channel().remoteAddress() instanceof InetSocketAddress address) {
            peer = address.getAddress();
        }
        if (server.admit(this)) {
            within(FIRST_REQUEST_SECONDS);
            opened.read();
        } else {
            server.stats().refused(WebStats.Refusal.CONNECTIONS, peer);
            if (secure) {
                // A handshake costs too much for a refusal.
                close();
                return;
            }
            keepAlive = false;
            send(busy("too many connections"));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext closed) {
        ended();
    }

    private void close() {
        ended();
        if (context != null) {
            context.close();
        }
    }

    private void ended() {
        server.remove(this);
        cancelDeadline();
        if (writer != null) {
            writer.abort();
        }
    }

    /** Limits the step that begins now: the connection is closed after so many seconds. */
    private void within(long seconds) {
        cancelDeadline();
        ChannelHandlerContext open = context();
        deadline = open.executor().schedule(this::late, seconds, TimeUnit.SECONDS);
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    private void late() {
        if (busy) {
            server.stats().refused(WebStats.Refusal.TIME, peer);
        }
        close();
    }

    /** Closes after the client has read: a close with unread bytes makes the kernel reset the connection, and the answer is lost. */
    private void linger() {
        lingers = true;
        within(LINGER_SECONDS);
        tls().ifPresent(SslHandler::closeOutbound);
        if (context().channel() instanceof DuplexChannel channel) {
            if (!secure) {
                channel.shutdownOutput();
            }
            channel.config().setAutoRead(true);
        }
    }

    private Optional<SslHandler> tls() {
        return secure ? Optional.ofNullable(context().pipeline().get(SslHandler.class)) : Optional.empty();
    }

    /** Returns whether the client has a certificate, which was verified in the handshake. */
    private boolean isProven() {
        return tls().map(tls -> {
                    try {
                        return tls.engine().getSession().getPeerCertificates().length > 0;
                    } catch (SSLPeerUnverifiedException e) {
                        return false;
                    }
                })
                .orElse(false);
    }

    private AnswerWriter writer() {
        if (writer == null) {
            throw new IllegalStateException("the connection is not open yet");
        }
        return writer;
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("the connection is not open yet");
        }
        return context;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext at, Throwable cause) {
        // The client reset its connection, or sent no HTTP or TLS.
        close();
    }

    // ---- a request ----

    /** Returns the request that a head begins; empty where its path or a parameter cannot be decoded. */
    Optional<Request> request(HttpRequest head) {
        return Request.of(head, peer, secure, isProven());
    }

    /** Returns whether the connection is only read until its client closes it. */
    boolean lingers() {
        return lingers;
    }

    /** Limits the time of a body. Returns false while an earlier request is answered, so that nothing else may be written. */
    boolean bodyBegins() {
        boolean free = !busy && !lingers;
        if (free) {
            within(FIRST_REQUEST_SECONDS);
        }
        return free;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext at, RequestReader.Arrival arrival) {
        if (lingers) {
            return;
        }
        busy = true;
        keepAlive = arrival.keepAlive();
        headOnly = arrival.headOnly();
        within(HANDLER_SECONDS);
        if (arrival instanceof RequestReader.Refused refused) {
            send(refused.answer());
        } else if (arrival instanceof RequestReader.Complete complete) {
            HandlerExecutor handler = complete.handler();
            if (!handler.execute(() -> answer(handler, complete.request()))) {
                send(queueIsFull());
            }
        }
    }

    /** Counts and returns the refusal of a request. */
    HttpAnswer queueIsFull() {
        server.stats().refused(WebStats.Refusal.QUEUE, peer);
        return busy("too many requests");
    }

    /** Reads the rest of an incomplete request. */
    @Override
    public void channelReadComplete(ChannelHandlerContext at) {
        if (!busy && !lingers) {
            at.read();
        }
    }

    private static HttpAnswer busy(String why) {
        return HttpAnswer.text(503, why + "; try again\n").with("Retry-After", "2");
    }

    /** On a thread of the executor. */
    private void answer(HandlerExecutor executor, Request request) {
        ChannelHandlerContext open = context();
        if (!open.channel().isActive()) {
            return;
        }
        HttpAnswer answer = executor.answer(request);
        if (answer.flow().isEmpty() || headOnly) {
            onLoop(() -> send(answer));
            return;
        }
        FlowStream stream = new FlowStream(open.channel());
        onLoop(() -> begin(answer, stream));
        try {
            answer.flow().get().write(stream);
            onLoop(writer()::end);
        } catch (IOException e) {
            onLoop(this::close);
        } catch (RuntimeException e) {
            executor.failed(e);
            onLoop(this::close);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            onLoop(this::close);
        }
    }

    private void onLoop(Runnable task) {
        try {
            context().executor().execute(task);
        } catch (RejectedExecutionException e) {
            // The program shuts down, and all connections with it.
        }
    }

    // ---- an answer ----

    private void begin(HttpAnswer answer, FlowStream stream) {
        within(HttpAnswer.LONGEST_SECONDS + FIRST_REQUEST_SECONDS);
        writer().beginStream(answer, stream, keepAlive);
    }

    private void send(HttpAnswer answer) {
        if (!context().channel().isActive()) {
            return;
        }
        if (!headOnly && !server.take(answer.body())) {
            server.stats().refused(WebStats.Refusal.MEMORY, peer);
            send(busy("too many answers are being written"));
            return;
        }
        // Before the answer, which may end in this call.
        within(WRITING_SECONDS);
        if (headOnly) {
            writer().sendHead(answer, keepAlive);
        } else {
            writer().send(answer, keepAlive);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext at) {
        writer().writabilityChanged();
    }

    private void answered(boolean success) {
        busy = false;
        writer().reset();
        if (!success) {
            close();
            return;
        }
        if (!keepAlive) {
            linger();
            return;
        }
        server.waits(this);
        within(NEXT_REQUEST_SECONDS);
        context().read();
    }
}
