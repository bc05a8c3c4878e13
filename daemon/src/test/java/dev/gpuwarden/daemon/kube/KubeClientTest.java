package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers of an API server in trouble, which a real one cannot be made to give; all others are in ClusterTest. */
class KubeClientTest {

    @TempDir
    Path folder;

    private final Deque<Answer> answers = new ArrayDeque<>();
    private final List<String> asked = new ArrayList<>();
    private HttpServer server;
    private Path token;
    private KubeCounters tally;
    private KubeClient client;

    private interface Answer {
        void to(HttpExchange exchange) throws IOException, InterruptedException;
    }

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization"));
            try {
                answers.remove().to(exchange);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            exchange.close();
        });
        server.start();
        token = Files.writeString(folder.resolve("token"), "one\n");
        client = client(false);
    }

    @AfterEach
    void end() {
        client.close();
        server.stop(0);
    }

    private KubeClient client(boolean dryRun) {
        KubeAccess access = new KubeAccess(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/below"),
                Optional.empty(),
                Optional.empty(),
                Optional.of(CredentialSource.of(token)),
                "the test");
        tally = new KubeCounters();
        return new KubeClient(access, dryRun, Clock.systemUTC(), tally);
    }

    private static Answer answer(int status, String body, String... header) {
        return exchange -> {
            if (header.length == 2) {
                exchange.getResponseHeaders().add(header[0], header[1]);
            }
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        };
    }

    private KubeException refused(ApiRequest request) {
        return catchThrowableOfType(KubeException.class, () -> client.ask(request));
    }

    @Test
    void retryAfterIsHonoured() throws Exception {
        answers.add(answer(429, "{\"message\": \"too many\"}", "Retry-After", "1"));
        answers.add(answer(200, "{\"kind\": \"Node\"}"));
        KubeException cause = refused(ApiRequest.read("n"));
        long answered = System.nanoTime();
        assertThat(cause)
                .hasMessage("the API server answers 429: too many")
                .extracting(KubeException::retryAfter)
                .isEqualTo(Optional.of(Duration.ofSeconds(1)));
        assertThat(client.ask(ApiRequest.read("n")).orElseThrow().get("kind")).isEqualTo("Node");
        assertThat(System.nanoTime() - answered)
                .isGreaterThan(Duration.ofMillis(900).toNanos());
        assertThat(tally.stats().get("read"))
                .extracting(KubeStats::ok, KubeStats::refused, KubeStats::failed, KubeStats::lastError)
                .containsExactly(1L, 1L, 0L, "");
    }

    @Test
    void theTokenIsReadForEachRequest() throws Exception {
        answers.add(answer(401, "{\"message\": \"Unauthorized\"}"));
        answers.add(answer(200, "{}"));
        assertThat(refused(ApiRequest.read("n")))
                .hasMessageContaining("401: Unauthorized; it does not accept " + token)
                .hasMessageNotContaining("one");
        Files.writeString(token, "two");
        assertThat(client.ask(ApiRequest.read("n"))).isPresent();
        assertThat(asked)
                .containsExactly("GET /below/api/v1/nodes/n Bearer one", "GET /below/api/v1/nodes/n Bearer two");
    }

    @Test
    void anAnswerThatDoesNotEndIsCutOff() {
        answers.add(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            byte[] much = new byte[1 << 16];
            try {
                while (true) {
                    out.write(much);
                }
            } catch (IOException e) {
                // The client has closed.
            }
        });
        assertThat(refused(ApiRequest.read("n"))).hasMessageContaining("expected an answer of at most");
    }

    @Test
    void aSilentServerDoesNotDelayTheEnd() throws Exception {
        CountDownLatch here = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        answers.add(exchange -> {
            here.countDown();
            ended.await();
        });
        List<Throwable> ends = Collections.synchronizedList(new ArrayList<>());
        Thread first = new Thread(() -> ends.add(catchThrowable(() -> client.ask(ApiRequest.read("n")))));
        first.start();
        here.await();
        Thread second = new Thread(() -> ends.add(catchThrowable(() -> client.ask(ApiRequest.read("n")))));
        second.start();
        second.interrupt();
        second.join();
        first.interrupt();
        first.join();
        assertThat(ends).hasSize(2).allMatch(InterruptedException.class::isInstance);
        ended.countDown();
    }

    @Test
    void aProxysAnswerIsNoSuccess() {
        answers.add(answer(200, "<html>please log in</html>"));
        assertThat(refused(ApiRequest.read("n"))).hasMessageContaining("cannot be asked");
        answers.add(answer(302, "", "Location", "http://127.0.0.1:1/"));
        assertThat(refused(ApiRequest.read("n"))).hasMessage("the API server answers 302");
    }

    @Test
    void aServerThatIsNotThereIsNamed() {
        server.stop(0);
        assertThat(refused(ApiRequest.read("n")))
                .hasMessageStartingWith("the API server http://127.0.0.1:")
                .hasMessageContaining("cannot be asked: ");
        assertThat(tally.stats().get("read").failed()).isEqualTo(1);
    }

    @Test
    void aDryRunAsksTheServerToKeepNothing() throws Exception {
        client.close();
        client = client(true);
        answers.add(answer(200, "{}"));
        answers.add(answer(200, "{}"));
        var unused = List.of(
                client.ask(ApiRequest.read("n")), client.ask(ApiRequest.labels("n", Map.of("metadata", Map.of()))));
        assertThat(asked)
                .containsExactly(
                        "GET /below/api/v1/nodes/n Bearer one",
                        "PATCH /below/api/v1/nodes/n?fieldManager=gpuwarden&dryRun=All Bearer one");
    }
}
