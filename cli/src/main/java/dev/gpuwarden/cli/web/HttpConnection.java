package dev.gpuwarden.cli.web;

import static io.netty.handler.codec.http.HttpHeaderNames.CONNECTION;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;
import static io.netty.handler.codec.http.HttpHeaderNames.TRANSFER_ENCODING;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
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
 * One client's connection: a request, its answer in pieces as the client takes them, and the next request. Each step has its time,
 * and a client that takes longer loses the connection. Everything but the answering itself is on the event loop's thread.
 */
final class HttpConnection extends SimpleChannelInboundHandler<FullHttpRequest> implements Connections.Connection {

    /** Written at a time: what a slow reader costs beside the body that it shares with others. */
    static final int PIECE_BYTES = 16 << 10;

    /** For a request to arrive on a new connection; as long is the answer's own time, beside what the handler may take. */
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
    private byte @Nullable [] body;
    private int written;
    private @Nullable FlowStream flow;
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

    // ---- its life ----

    @Override
    public void channelActive(ChannelHandlerContext opened) {
        context = opened;
        if (opened.channel().remoteAddress() instanceof InetSocketAddress address) {
            peer = address.getAddress();
        }
        if (server.admit(this)) {
            within(FIRST_REQUEST_SECONDS);
            opened.read();
        } else {
            server.stats().refused(WebStats.Refusal.CONNECTIONS, peer);
            if (secure) {
                // A handshake for an answer would cost what there is too little of.
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
        letGo();
        cancelDeadline();
        if (flow != null) {
            flow.changed();
        }
    }

    /** The step that begins now ends in so many seconds, or the connection does. */
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

    /** Closed with unread bytes, the kernel would reset the connection, and the client would lose the answer. */
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

    /** A certificate is only ever there when it was verified. */
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

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("the connection is not open yet");
        }
        return context;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext at, Throwable cause) {
        // A client that reset its connection, or sent what is no HTTP or TLS.
        close();
    }

    // ---- a request ----

    @Override
    protected void channelRead0(ChannelHandlerContext at, FullHttpRequest message) {
        if (lingers) {
            return;
        }
        busy = true;
        keepAlive = HttpUtil.isKeepAlive(message);
        headOnly = message.method().equals(HttpMethod.HEAD);
        within(HANDLER_SECONDS);
        if (!message.decoderResult().isSuccess()) {
            keepAlive = false;
            send(HttpAnswer.text(400, "this is no HTTP request, or its head is too long\n"));
            return;
        }
        if (!headOnly && !message.method().equals(HttpMethod.GET)) {
            send(HttpAnswer.text(405, "only GET and HEAD\n").with("Allow", "GET, HEAD"));
            return;
        }
        Optional<Request> request = Requests.of(message, peer, secure, isProven());
        if (request.isEmpty()) {
            send(HttpAnswer.text(400, "the path or its parameters cannot be decoded\n"));
            return;
        }
        Optional<HandlerExecutor> executor = server.executor(request.get().path());
        if (executor.isEmpty()) {
            send(HttpAnswer.NOT_FOUND);
        } else if (!executor.get().execute(() -> answer(executor.get(), request.get()))) {
            server.stats().refused(WebStats.Refusal.QUEUE, peer);
            send(busy("too many requests"));
        }
    }

    /** A request that has not come whole: without this, nothing would read the rest. */
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
            onLoop(() -> open.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
                    .addListener(done -> answered(done.isSuccess())));
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
            // The program ends, and all connections with it.
        }
    }

    // ---- an answer ----

    private void begin(HttpAnswer answer, FlowStream stream) {
        flow = stream;
        HttpResponse head = head(answer);
        if (keepAlive) {
            head.headers().set(TRANSFER_ENCODING, "chunked");
        }
        within(HttpAnswer.LONGEST_SECONDS + FIRST_REQUEST_SECONDS);
        context().writeAndFlush(head);
    }

    private void send(HttpAnswer answer) {
        byte[] bytes = answer.body();
        if (!context().channel().isActive()) {
            return;
        }
        if (!headOnly && !server.take(bytes)) {
            server.stats().refused(WebStats.Refusal.MEMORY, peer);
            send(busy("too many answers are being written"));
            return;
        }
        HttpResponse head = head(answer);
        head.headers().set(CONTENT_LENGTH, bytes.length);
        within(WRITING_SECONDS);
        if (headOnly) {
            context().write(head);
            context().writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT).addListener(done -> answered(done.isSuccess()));
            return;
        }
        body = bytes;
        written = 0;
        context().write(head);
        writeMore();
    }

    private HttpResponse head(HttpAnswer answer) {
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(answer.status()));
        head.headers().set(CONTENT_TYPE, answer.type());
        head.headers().set("X-Content-Type-Options", "nosniff");
        answer.headers().forEach((name, value) -> head.headers().set(name, value));
        if (!keepAlive) {
            head.headers().set(CONNECTION, "close");
        }
        return head;
    }

    private void writeMore() {
        ChannelHandlerContext open = context();
        while (body != null && open.channel().isWritable()) {
            int n = Math.min(PIECE_BYTES, body.length - written);
            var piece = Unpooled.wrappedBuffer(body, written, n);
            written += n;
            if (written == body.length) {
                body = null;
                byte[] all = piece.array();
                open.writeAndFlush(new DefaultLastHttpContent(piece)).addListener(done -> {
                    server.give(all);
                    answered(done.isSuccess());
                });
            } else {
                open.writeAndFlush(new DefaultHttpContent(piece));
            }
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext at) {
        if (flow != null) {
            flow.changed();
        }
        writeMore();
    }

    private void letGo() {
        if (body != null) {
            server.give(body);
            body = null;
        }
    }

    private void answered(boolean success) {
        busy = false;
        flow = null;
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
