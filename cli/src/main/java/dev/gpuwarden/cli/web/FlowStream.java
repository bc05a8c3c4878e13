package dev.gpuwarden.cli.web;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultHttpContent;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;

/** A stream to a connection, for a thread that may block. It is at most a few pieces ahead of the client. */
final class FlowStream extends OutputStream {

    /** Interval of the check whether the client is still connected. The connection reports most closed clients itself. */
    private static final long LOOK_MILLIS = 200;

    private final Channel channel;
    private final Object writable = new Object();

    FlowStream(Channel channel) {
        this.channel = channel;
    }

    /** Wakes the writer: the connection accepts more, or has ended. */
    void changed() {
        synchronized (writable) {
            writable.notifyAll();
        }
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        for (int at = 0; at < length; at += AnswerWriter.PIECE_BYTES) {
            awaitWritable();
            int n = Math.min(AnswerWriter.PIECE_BYTES, length - at);
            var unused = channel.writeAndFlush(new DefaultHttpContent(Unpooled.copiedBuffer(bytes, offset + at, n)));
        }
    }

    private void awaitWritable() throws IOException {
        synchronized (writable) {
            while (channel.isActive() && !channel.isWritable()) {
                try {
                    TimeUnit.MILLISECONDS.timedWait(writable, LOOK_MILLIS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException();
                }
            }
        }
        if (!channel.isActive()) {
            throw new IOException("the client has left");
        }
    }
}
