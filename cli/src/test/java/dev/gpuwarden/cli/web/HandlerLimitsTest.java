package dev.gpuwarden.cli.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.web.HttpHandler.Limits;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A page and a handler of large POST requests, as an admission webhook is, on one server. */
class HandlerLimitsTest {

    private static final int MEBIBYTE = 1 << 20;
    private static final int LARGEST = 3 * MEBIBYTE;

    private final CountDownLatch release = new CountDownLatch(1);
    private final List<Socket> sockets = new ArrayList<>();
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(20))
            .build();
    private WebServer server;

    private record Handler(String path, Limits limits, Answers answers) implements HttpHandler {
        @Override
        public boolean has(String asked) {
            return asked.equals(path);
        }

        @Override
        public HttpAnswer answer(Request request) throws InterruptedException {
            return answers.to(request);
        }
    }

    private interface Answers {
        HttpAnswer to(Request request) throws InterruptedException;
    }

    @BeforeEach
    void start() {
        Handler page = new Handler("/page", Limits.READING, request -> {
            release.await();
            return HttpAnswer.text(200, "page");
        });
        Handler admit = new Handler("/admit", new Limits(List.of("POST"), LARGEST, 1, 1), HandlerLimitsTest::digest);
        Handler slow = new Handler("/slow", new Limits(List.of("POST"), 1024, 1, 2), request -> {
            release.await();
            return digest(request);
        });
        server = WebServer.start(
                new ListenAddress("127.0.0.1", 0),
                List.of(page, admit, slow),
                Optional::empty,
                new WebLimits(256, 128, 1 << 20),
                new WebStats());
    }

    @AfterEach
    void close() throws IOException {
        release.countDown();
        for (Socket socket : sockets) {
            socket.close();
        }
        server.close();
    }

    private static HttpAnswer digest(Request request) {
        return HttpAnswer.text(200, request.method() + " " + digest(request.body()));
    }

    private static String digest(byte[] body) {
        CRC32 sum = new CRC32();
        sum.update(body);
        return body.length + " " + sum.getValue();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new java.util.Random(1).nextBytes(bytes);
        return bytes;
    }

    private static BodyPublisher chunked(byte[] bytes) {
        return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(bytes));
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.address().getPort() + path));
    }

    private HttpResponse<String> post(String path, BodyPublisher body) throws Exception {
        return client.send(to(path).POST(body).build(), BodyHandlers.ofString());
    }

    private Socket send(int peer, String text) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0." + peer), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", server.address().getPort()));
        socket.setSoTimeout(20_000);
        sockets.add(socket);
        write(socket, text);
        return socket;
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns the head of the next answer. */
    private static String head(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
            int next = in.read();
            assertThat(next).as("the connection ended after: %s", head).isNotNegative();
            head.write(next);
        }
        return head.toString(StandardCharsets.US_ASCII);
    }

    private static String all(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    // ---- what is served ----

    @Test
    void largePostIsServedWhileThreadsAndQueueOfAPageAreFull() throws Exception {
        for (int i = 0; i < Limits.READING.threads() + Limits.READING.queue(); i++) {
            send(2, "GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        while (!all(send(3, "GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 503 ")) {
            // One of the others was not yet in the queue, and this one took its place.
            TimeUnit.MILLISECONDS.sleep(1);
        }
        byte[] body = bytes(2 * MEBIBYTE);
        for (BodyPublisher form : List.of(BodyPublishers.ofByteArray(body), chunked(body))) {
            assertThat(post("/admit", form).body()).isEqualTo("POST " + digest(body));
        }
    }

    @Test
    void clientThatWaitsForPermissionToSendItsBodyGetsIt() throws Exception {
        Socket socket = send(
                2,
                "POST /admit HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " + LARGEST + "\r\n\r\n");
        assertThat(head(socket)).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
        byte[] body = bytes(LARGEST);
        socket.getOutputStream().write(body);
        assertThat(head(socket)).startsWith("HTTP/1.1 200 ");
        assertThat(client.send(
                                to("/admit")
                                        .POST(BodyPublishers.ofByteArray(body))
                                        .expectContinue(true)
                                        .build(),
                                BodyHandlers.ofString())
                        .body())
                .isEqualTo("POST " + digest(body));
    }

    @Test
    void requestsThatComeTogetherAreAnsweredInOrder() throws Exception {
        Socket socket = send(
                2,
                "POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                        + "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
                        + "POST /admit HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
                        + "PUT /admit HTTP/1.1\r\nHost: x\r\n\r\n"
                        + "POST /admit HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        assertThat(all(socket))
                .containsSubsequence(
                        "HTTP/1.1 200 ",
                        "POST " + digest("abc".getBytes(StandardCharsets.US_ASCII)),
                        "HTTP/1.1 404 ",
                        "POST " + digest("def".getBytes(StandardCharsets.US_ASCII)),
                        "HTTP/1.1 405 ",
                        "POST " + digest(new byte[0]));
    }

    // ---- what is refused ----

    @Test
    void bodyOverTheLimitIsRefusedBeforeItIsRead() throws Exception {
        assertThat(post("/admit", chunked(bytes(LARGEST))).statusCode()).isEqualTo(200);
        assertThat(post("/admit", chunked(bytes(LARGEST + 1))).statusCode()).isEqualTo(413);
        String head = "POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: " + (LARGEST + 1) + "\r\n";
        assertThat(all(send(2, head + "\r\n"))).startsWith("HTTP/1.1 413 ");
        assertThat(all(send(2, head + "Expect: 100-continue\r\n\r\n"))).startsWith("HTTP/1.1 413 ");
        assertThat(all(send(2, "GET /page HTTP/1.1\r\nHost: x\r\nContent-Length: 1025\r\n\r\n")))
                .startsWith("HTTP/1.1 413 ");
    }

    @Test
    void requestThatTheHandlerDoesNotServeIsRefused() throws Exception {
        HttpResponse<String> write = post("/page", BodyPublishers.ofString("x"));
        assertThat(write.statusCode()).isEqualTo(405);
        assertThat(write.headers().firstValue("Allow")).contains("GET, HEAD");
        HttpResponse<String> read = client.send(to("/admit").build(), BodyHandlers.ofString());
        assertThat(read.statusCode()).isEqualTo(405);
        assertThat(read.headers().firstValue("Allow")).contains("POST");
        String head = "POST /admit HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
        assertThat(all(send(2, head + "Expect: a miracle\r\nContent-Length: 1\r\n\r\n")))
                .startsWith("HTTP/1.1 417 ");
        assertThat(all(send(2, head + "Transfer-Encoding: chunked\r\n\r\nno number\r\n")))
                .startsWith("HTTP/1.1 400 ");
    }

    @Test
    void fullQueueConcernsItsHandlerAlone() throws Exception {
        while (server.stats().refusals(WebStats.Refusal.QUEUE) == 0) {
            send(2, "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            TimeUnit.MILLISECONDS.sleep(1);
        }
        assertThat(post("/admit", BodyPublishers.ofString("x")).statusCode()).isEqualTo(200);
        release.countDown();
        assertThat(client.send(to("/page").build(), BodyHandlers.ofString()).body())
                .isEqualTo("page");
    }

    /** Two bodies may arrive at a time, as the handler has one thread and one place in its queue. */
    @Test
    void bodiesThatArriveHaveABoundOfMemory() throws Exception {
        String head = "POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: " + LARGEST + "\r\n\r\n";
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Socket socket = send(2, head);
            Thread sender = new Thread(() -> {
                try {
                    socket.getOutputStream().write(new byte[LARGEST - 1]);
                } catch (IOException e) {
                    // The server has refused it.
                }
            });
            sender.start();
            senders.add(sender);
        }
        while (server.stats().refusals(WebStats.Refusal.QUEUE) == 0) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        for (Socket socket : sockets) {
            socket.close();
        }
        for (Thread sender : senders) {
            sender.join();
        }
        while (server.stats().connections() > 0) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        assertThat(post("/admit", BodyPublishers.ofByteArray(bytes(LARGEST))).statusCode())
                .isEqualTo(200);
    }
}
