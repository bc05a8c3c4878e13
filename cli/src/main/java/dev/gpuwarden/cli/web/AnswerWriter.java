package dev.gpuwarden.cli.web;

import static io.netty.handler.codec.http.HttpHeaderNames.CONNECTION;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;
import static io.netty.handler.codec.http.HttpHeaderNames.TRANSFER_ENCODING;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The writer of one connection's answers, one after the other, in pieces as the client reads them. A body takes room from the
 * server's quota until its last piece is written. For the event loop's thread alone.
 */
final class AnswerWriter {

    /** Bytes of one piece: the memory of a slow reader besides the body, which it shares with others. */
    static final int PIECE_BYTES = 16 << 10;

    private final ChannelHandlerContext context;
    private final WebServer server;
    private final Consumer<Boolean> listener;
    private byte @Nullable [] body;
    private int written;
    private @Nullable FlowStream flow;

    /** @param listener receives the end of each answer; false where the client did not receive all of it */
    AnswerWriter(ChannelHandlerContext context, WebServer server, Consumer<Boolean> listener) {
        this.context = context;
        this.server = server;
        this.listener = listener;
    }

    /** Writes an answer without its body, for a HEAD request. */
    void sendHead(HttpAnswer answer, boolean keepAlive) {
        HttpResponse head = head(answer, keepAlive);
        head.headers().set(CONTENT_LENGTH, answer.body().length);
        context.write(head);
        end();
    }

    /** Writes an answer for whose body {@link WebServer#take} has taken room. */
    void send(HttpAnswer answer, boolean keepAlive) {
        HttpResponse head = head(answer, keepAlive);
        head.headers().set(CONTENT_LENGTH, answer.body().length);
        body = answer.body();
        written = 0;
        context.write(head);
        writeMore();
    }

    /** Writes the head of an answer whose body the stream writes. */
    void beginStream(HttpAnswer answer, FlowStream stream, boolean keepAlive) {
        flow = stream;
        HttpResponse head = head(answer, keepAlive);
        if (keepAlive) {
            head.headers().set(TRANSFER_ENCODING, "chunked");
        }
        context.writeAndFlush(head);
    }

    /** Ends an answer whose body is written, or that has none. */
    void end() {
        context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
                .addListener(done -> listener.accept(done.isSuccess()));
    }

    /** Continues after the client has read, or has stopped reading. */
    void writabilityChanged() {
        if (flow != null) {
            flow.changed();
        }
        writeMore();
    }

    /** Forgets a streamed answer that has ended. */
    void reset() {
        flow = null;
    }

    /** Drops the present answer, and wakes its stream: the connection has ended. */
    void abort() {
        if (body != null) {
            server.give(body);
            body = null;
        }
        if (flow != null) {
            flow.changed();
        }
    }

    private static HttpResponse head(HttpAnswer answer, boolean keepAlive) {
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
        while (body != null && context.channel().isWritable()) {
            int n = Math.min(PIECE_BYTES, body.length - written);
            var piece = Unpooled.wrappedBuffer(body, written, n);
            written += n;
            if (written == body.length) {
                byte[] all = body;
                body = null;
                context.writeAndFlush(new DefaultLastHttpContent(piece)).addListener(done -> {
                    server.give(all);
                    listener.accept(done.isSuccess());
                });
            } else {
                context.writeAndFlush(new DefaultHttpContent(piece));
            }
        }
    }
}
