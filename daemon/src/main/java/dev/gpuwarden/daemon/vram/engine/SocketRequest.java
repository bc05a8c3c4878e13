package dev.gpuwarden.daemon.vram.engine;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.util.Mib;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One HTTP request over a Unix socket. HTTP/1.0, so that the answer has no chunks and ends with the connection. */
final class SocketRequest {

    /** Room for one container with the labels of a thousand. */
    private static final int MOST_BYTES = 4 << 20;

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] ([1-5][0-9]{2})[ \r]");
    private static final byte[] END_OF_HEADERS = "\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

    /** @param body may be empty */
    record Answer(int status, byte[] body) {}

    private SocketRequest() {}

    /**
     * Sends a request without a body, and blocks until the whole answer has arrived.
     *
     * @param target path and query, already encoded
     * @throws IOException if there is no such socket, if the answer is late, too long or no HTTP, or if this thread is
     *     interrupted
     */
    static Answer send(Path socket, String method, String target, Duration timeout) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        ByteBuffer request = StandardCharsets.US_ASCII.encode(
                method + " " + target + " HTTP/1.0\r\nHost: gpuwarden\r\n" + "Content-Length: 0\r\n\r\n");
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(socket));
            // The buffer of a new connection has room for all of it.
            if (channel.write(request) == 0 || request.hasRemaining()) {
                throw new IOException("the socket takes no request");
            }
            channel.register(selector, SelectionKey.OP_READ);
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer part = ByteBuffer.allocate(16 * 1024);
            while (channel.read(part) >= 0) {
                answer.write(part.array(), 0, part.position());
                part.clear();
                if (answer.size() > MOST_BYTES) {
                    throw new IOException("the answer is longer than " + Mib.text(MOST_BYTES));
                }
                await(selector, deadline, timeout);
            }
            return parse(answer.toByteArray());
        }
    }

    private static void await(Selector selector, long deadline, Duration timeout) throws IOException {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw new IOException("no whole answer within " + Durations.text(timeout));
        }
        selector.select(Math.max(1, left / 1_000_000));
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("interrupted");
        }
    }

    private static Answer parse(byte[] answer) throws IOException {
        int end = 0;
        while (end + END_OF_HEADERS.length <= answer.length
                && !Arrays.equals(answer, end, end + END_OF_HEADERS.length, END_OF_HEADERS, 0, END_OF_HEADERS.length)) {
            end++;
        }
        String headers = new String(answer, 0, Math.min(end, answer.length), StandardCharsets.ISO_8859_1);
        Matcher status = STATUS.matcher(headers);
        if (end + END_OF_HEADERS.length > answer.length || !status.lookingAt()) {
            throw new IOException("expected an answer of HTTP, received " + answer.length + " bytes of something else");
        }
        return new Answer(
                Integer.parseInt(status.group(1)),
                Arrays.copyOfRange(answer, end + END_OF_HEADERS.length, answer.length));
    }
}
