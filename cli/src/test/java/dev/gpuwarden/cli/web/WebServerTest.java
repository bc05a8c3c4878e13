package dev.gpuwarden.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The server under abusive clients, and the answers to others. Addresses of 127/8 stand for different clients. */
class WebServerTest {

    private static final int LARGE = 4 << 20;
    private static final String END = "\r\nHost: x\r\n\r\n";

    private final CountDownLatch release = new CountDownLatch(1);
    private final List<Socket> sockets = new ArrayList<>();
    private WebServer server;

    @AfterEach
    void close() throws IOException {
        release.countDown();
        for (Socket socket : sockets) {
            socket.close();
        }
        server.close();
    }

    private void start(WebLimits limits, HttpHandler... handlers) {
        server = WebServer.start(
                new ListenAddress("127.0.0.1", 0), List.of(handlers), Optional::empty, limits, new WebStats());
    }

    /** Answers `/NAME`, and all below it, as the function does. */
    private static HttpHandler handler(String name, int threads, Function answer) {
        return new HttpHandler() {
            @Override
            public boolean has(String path) {
                return path.startsWith("/" + name);
            }

            @Override
            public HttpAnswer answer(Request request) throws InterruptedException {
                return answer.of(request);
            }

            @Override
            public Limits limits() {
                return Limits.READING.withThreads(threads);
            }
        };
    }

    private interface Function {
        HttpAnswer of(Request request) throws InterruptedException;
    }

    private static HttpHandler text() {
        return handler("text", 2, request -> HttpAnswer.text(200, "hello\n"));
    }

    private Socket connect(int client) throws IOException {
        Socket socket = new Socket();
        // Less would be held back by the machine's own buffers.
        socket.setReceiveBufferSize(4096);
        socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0." + client), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", server.address().getPort()));
        socket.setSoTimeout(20_000);
        sockets.add(socket);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private Socket ask(int client, String path) throws IOException {
        Socket socket = connect(client);
        send(socket, "GET " + path + " HTTP/1.1" + END);
        return socket;
    }

    private String get(int client, String path) throws IOException {
        Socket socket = connect(client);
        send(socket, "GET " + path + " HTTP/1.1\r\nConnection: close" + END);
        return all(socket);
    }

    private static String all(Socket socket) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        socket.getInputStream().transferTo(all);
        return all.toString(StandardCharsets.UTF_8);
    }

    private static String read(Socket socket, int bytes) throws IOException {
        return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.UTF_8);
    }

    private void await(WebStats.Refusal why, long count) throws InterruptedException {
        while (server.stats().refusals(why) < count) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private void awaitConnections(int count) throws InterruptedException {
        while (server.stats().connections() != count) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    // ---- what is served ----

    @Test
    void aConnectionIsUsedAgainAndRequestsThatComeTogetherAreAnsweredInOrder() throws Exception {
        start(WebLimits.PAGES, handler("", 2, request -> HttpAnswer.text(200, request.path())));
        Socket socket = connect(1);
        send(socket, "GET /a HTTP/1.1" + END + "GET /b HTTP/1.1" + END + "HEAD /c HTTP/1.1" + END);
        send(socket, "GET http://x/d%20e?x=1 HTTP/1.1\r\nConnection: close" + END);
        String answers = all(socket);
        assertThat(answers).containsSubsequence("\r\n\r\n/a", "\r\n\r\n/b", "content-length: 2\r\n", "\r\n\r\n/d e");
        assertThat(answers).doesNotContain("/c");
    }

    @Test
    void requestMayArriveInPieces() throws Exception {
        start(WebLimits.PAGES, text());
        Socket socket = connect(1);
        for (String part :
                List.of("G", "ET /te", "xt HTTP/1.1\r\nX: " + "x".repeat(5000), "\r\nConnection: close", END)) {
            send(socket, part);
            TimeUnit.MILLISECONDS.sleep(20);
        }
        assertThat(all(socket)).endsWith("hello\n");
    }

    @Test
    void streamedAnswerIsChunkedAndKeepsTheConnection() throws Exception {
        start(
                WebLimits.PAGES,
                text(),
                handler(
                        "flow",
                        1,
                        request -> HttpAnswer.flowing("text/plain", out -> {
                            for (int i = 0; i < 3; i++) {
                                out.write(("piece " + i + "\n").getBytes(StandardCharsets.US_ASCII));
                            }
                        })));
        Socket socket = connect(1);
        send(socket, "GET /flow HTTP/1.1" + END + "GET /text HTTP/1.1\r\nConnection: close" + END);
        assertThat(all(socket))
                .contains("transfer-encoding: chunked", "8\r\npiece 0\n")
                .endsWith("hello\n");
        // A client of HTTP/1.0 supports no chunks: the end of the connection is the end.
        Socket old = connect(1);
        send(old, "GET /flow HTTP/1.0" + END);
        assertThat(all(old)).doesNotContain("chunked").endsWith("\r\n\r\npiece 0\npiece 1\npiece 2\n");
    }

    @Test
    void invalidRequestIsAnsweredOnceAndClosesTheConnection() throws Exception {
        start(WebLimits.PAGES, text());
        for (String bad : List.of(
                "nonsense\r\n\r\n",
                "GET /text HTTP/1.1\r\nX: " + "x".repeat(20_000) + END,
                "GET /" + "x".repeat(5000) + " HTTP/1.1" + END)) {
            Socket socket = connect(1);
            send(socket, bad);
            assertThat(all(socket)).startsWith("HTTP/1.1 400 ");
        }
        Socket undecodable = connect(1);
        send(undecodable, "GET /%zz HTTP/1.1\r\nConnection: close" + END);
        assertThat(all(undecodable)).startsWith("HTTP/1.1 400 ");
        Socket withBody = connect(1);
        send(withBody, "GET /text HTTP/1.1\r\nContent-Length: 9999999" + END);
        assertThat(read(withBody, 12)).isEqualTo("HTTP/1.1 413");
    }

    @Test
    void failingHandlerAnswers500WithoutDetails() throws Exception {
        start(WebLimits.PAGES, handler("bad", 1, request -> {
            throw new IllegalStateException("secret");
        }));
        assertThat(get(1, "/bad")).startsWith("HTTP/1.1 500 ").doesNotContain("secret");
    }

    // ---- too much ----

    @Test
    void idleConnectionsMakeRoomForNewOnes() throws Exception {
        start(new WebLimits(20, 10, 1 << 20), text());
        for (int client = 2; client <= 5; client++) {
            for (int i = 0; i < 10; i++) {
                send(connect(client), "G");
            }
        }
        await(WebStats.Refusal.EVICTED, 20);
        for (int i = 0; i < 5; i++) {
            assertThat(get(1, "/text")).startsWith("HTTP/1.1 200 ").endsWith("hello\n");
        }
    }

    @Test
    void onePeerHasALimit() throws Exception {
        start(new WebLimits(20, 5, 1 << 20), text());
        for (int i = 0; i < 30; i++) {
            connect(2);
        }
        await(WebStats.Refusal.EVICTED, 25);
        awaitConnections(5);
    }

    @Test
    void connectionIsRefusedWhileAllAreBusy() throws Exception {
        CountDownLatch begun = new CountDownLatch(4);
        start(new WebLimits(4, 4, 1 << 20), handler("slow", 8, request -> {
            begun.countDown();
            release.await();
            return HttpAnswer.text(200, "late\n");
        }));
        List<Socket> busy = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            busy.add(ask(2, "/slow"));
        }
        begun.await();
        assertThat(get(3, "/slow")).startsWith("HTTP/1.1 503 ").containsIgnoringCase("retry-after: ");
        release.countDown();
        for (Socket socket : busy) {
            assertThat(read(socket, 12)).isEqualTo("HTTP/1.1 200");
        }
    }

    @Test
    void hangingHandlerDelaysNoOtherAndItsQueueIsBounded() throws Exception {
        start(new WebLimits(256, 256, 1 << 20), text(), handler("slow", 1, request -> {
            release.await();
            return HttpAnswer.text(200, "late\n");
        }));
        for (int i = 0; i < 65; i++) {
            ask(2, "/slow");
        }
        assertThat(get(3, "/text")).endsWith("hello\n");
        while (!get(4, "/slow?" + server.stats().connections()).startsWith("HTTP/1.1 503")) {
            // One of the 65 was not yet in the queue, and this one took its place.
            TimeUnit.MILLISECONDS.sleep(1);
        }
        assertThat(server.stats().refusals(WebStats.Refusal.QUEUE)).isPositive();
    }

    @Test
    void slowReadersShareBodiesWithinTheLimit() throws Exception {
        byte[] shared = new byte[LARGE];
        start(
                new WebLimits(256, 256, 3L * LARGE),
                text(),
                handler("shared", 2, request -> HttpAnswer.of(200, HttpAnswer.TEXT, shared)),
                handler("own", 2, request -> HttpAnswer.of(200, HttpAnswer.TEXT, new byte[LARGE])));
        for (int i = 0; i < 100; i++) {
            // Before the next: the queue of a handler has fewer places.
            assertThat(read(ask(2, "/shared"), 12)).isEqualTo("HTTP/1.1 200");
        }
        assertThat(server.stats().bodyBytes()).isEqualTo(LARGE);
        for (int i = 0; i < 2; i++) {
            assertThat(read(ask(2, "/own"), 12)).isEqualTo("HTTP/1.1 200");
        }
        assertThat(get(3, "/own")).startsWith("HTTP/1.1 503 ").containsIgnoringCase("retry-after: ");
        assertThat(server.stats().refusals(WebStats.Refusal.MEMORY)).isEqualTo(1);
        assertThat(get(3, "/text")).endsWith("hello\n");
        for (Socket socket : sockets) {
            socket.close();
        }
        while (server.stats().bodyBytes() > 0) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        assertThat(get(3, "/own")).hasSizeGreaterThan(LARGE);
    }

    @Test
    void streamWaitsForItsClient() throws Exception {
        java.util.concurrent.atomic.AtomicLong written = new java.util.concurrent.atomic.AtomicLong();
        start(
                WebLimits.PAGES,
                text(),
                handler(
                        "flow",
                        1,
                        request -> HttpAnswer.flowing("text/plain", out -> {
                            for (int i = 0; i < 100; i++) {
                                out.write(new byte[1 << 20]);
                                written.addAndGet(1 << 20);
                            }
                        })));
        Socket slow = ask(2, "/flow");
        assertThat(read(slow, 12)).isEqualTo("HTTP/1.1 200");
        TimeUnit.MILLISECONDS.sleep(300);
        assertThat(written.get()).isLessThan(20 << 20);
        slow.close();
        awaitConnections(0);
        assertThat(get(3, "/text")).endsWith("hello\n");
    }

    @Test
    void missingRequestOrBodyClosesTheConnection() throws Exception {
        start(WebLimits.PAGES, text());
        Socket idle = connect(2);
        send(idle, "GET /text HTTP/1.1" + END);
        assertThat(read(idle, 12)).isEqualTo("HTTP/1.1 200");
        Socket socket = connect(2);
        send(socket, "GET /te");
        Socket lacksItsBody = connect(2);
        send(lacksItsBody, "GET /text HTTP/1.1" + END);
        assertThat(read(lacksItsBody, 12)).isEqualTo("HTTP/1.1 200");
        send(lacksItsBody, "GET /text HTTP/1.1\r\nContent-Length: 5" + END);
        assertThat(all(socket)).isEmpty();
        assertThat(all(lacksItsBody)).endsWith("hello\n").doesNotContain("HTTP/1.1");
        idle.setSoTimeout(1);
        assertThatThrownBy(() -> all(idle))
                .as("one without a request has more time")
                .isInstanceOf(SocketTimeoutException.class);
    }
}
