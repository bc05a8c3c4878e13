package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.web.HttpHandler.Limits;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.MessageToMessageDecoder;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The reader of one connection's requests. It finds the handler by a request's head, and refuses what the handler's
 * {@link Limits} exclude before the body has arrived. For the event loop's thread alone.
 */
final class RequestReader extends MessageToMessageDecoder<HttpObject> {

    /** A request that can be answered now. */
    interface Arrival {
        boolean headOnly();

        /** Returns whether another request may follow. */
        boolean keepAlive();
    }

    record Complete(boolean headOnly, boolean keepAlive, Request request, HandlerExecutor handler) implements Arrival {}

    record Refused(boolean headOnly, boolean keepAlive, HttpAnswer answer) implements Arrival {}

    /** A request whose body arrives. */
    private record Arriving(HttpRequest head, Request request, HandlerExecutor handler, ByteArrayOutputStream body) {}

    private final WebServer server;
    private final HttpConnection connection;
    private @Nullable Arriving arriving;
    private boolean ended;

    RequestReader(WebServer server, HttpConnection connection) {
        this.server = server;
        this.connection = connection;
    }

    @Override
    protected void decode(ChannelHandlerContext at, HttpObject message, List<Object> out) throws IOException {
        if (ended || connection.lingers()) {
            return;
        }
        if (message instanceof HttpRequest head) {
            begin(at, head, out);
        }
        if (arriving != null && message instanceof HttpContent part) {
            add(arriving, part, out);
        }
    }

    private void begin(ChannelHandlerContext at, HttpRequest head, List<Object> out) {
        if (head.decoderResult().isFailure()) {
            out.add(refused(head, false, HttpAnswer.text(400, "no HTTP request, or its head is too long\n")));
            return;
        }
        boolean hasBody = HttpUtil.isTransferEncodingChunked(head) || HttpUtil.getContentLength(head, 0L) > 0;
        Optional<Request> request = connection.request(head);
        Optional<HandlerExecutor> handler = request.flatMap(known -> server.executor(known.path()));
        Optional<HttpAnswer> refusal = request.isEmpty()
                ? Optional.of(HttpAnswer.text(400, "the path or its parameters cannot be decoded\n"))
                : handler.isEmpty()
                        ? Optional.of(HttpAnswer.NOT_FOUND)
                        : refusal(head, handler.get().limits());
        if (refusal.isPresent()) {
            out.add(refused(head, !hasBody && HttpUtil.isKeepAlive(head), refusal.get()));
            return;
        }
        if (hasBody && connection.bodyBegins() && HttpUtil.is100ContinueExpected(head)) {
            at.writeAndFlush(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
        }
        arriving = new Arriving(head, request.get(), handler.get(), new ByteArrayOutputStream());
    }

    private static Optional<HttpAnswer> refusal(HttpRequest head, Limits limits) {
        if (!limits.methods().contains(head.method().name())) {
            return Optional.of(HttpAnswer.text(405, "only " + String.join(" and ", limits.methods()) + "\n")
                    .with("Allow", String.join(", ", limits.methods())));
        }
        if (HttpUtil.getContentLength(head, 0L) > limits.bodyBytes()) {
            return Optional.of(tooLarge(limits));
        }
        String expectation = head.headers().get(HttpHeaderNames.EXPECT, "100-continue");
        return expectation.equalsIgnoreCase("100-continue")
                ? Optional.empty()
                : Optional.of(HttpAnswer.text(417, "the one expectation is 100-continue\n"));
    }

    private static HttpAnswer tooLarge(Limits limits) {
        return HttpAnswer.text(413, "a body of at most " + limits.bodyBytes() + " bytes\n");
    }

    private void add(Arriving request, HttpContent part, List<Object> out) throws IOException {
        HttpRequest head = request.head();
        Limits limits = request.handler().limits();
        int bytes = part.content().readableBytes();
        if (part.decoderResult().isFailure()) {
            out.add(refused(head, false, HttpAnswer.text(400, "the body cannot be decoded\n")));
        } else if (bytes > limits.bodyBytes() - request.body().size()) {
            out.add(refused(head, false, tooLarge(limits)));
        } else if (!request.handler().take(bytes)) {
            out.add(refused(head, false, connection.queueIsFull()));
        } else {
            part.content().readBytes(request.body(), bytes);
            if (part instanceof LastHttpContent) {
                forget();
                boolean keepAlive = HttpUtil.isKeepAlive(head);
                ended = !keepAlive;
                out.add(new Complete(
                        isHead(head),
                        keepAlive,
                        request.request().with(request.body().toByteArray()),
                        request.handler()));
            }
        }
    }

    private Refused refused(HttpRequest head, boolean keepAlive, HttpAnswer answer) {
        forget();
        ended = !keepAlive;
        return new Refused(isHead(head), keepAlive, answer);
    }

    private static boolean isHead(HttpRequest head) {
        return head.method().equals(HttpMethod.HEAD);
    }

    private void forget() {
        if (arriving != null) {
            arriving.handler().give(arriving.body().size());
            arriving = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext closed) throws Exception {
        forget();
        super.channelInactive(closed);
    }
}
