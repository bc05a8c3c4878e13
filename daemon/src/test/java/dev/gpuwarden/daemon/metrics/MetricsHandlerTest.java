package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.NodeTree;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.ProbeHandler;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.daemon.page.PageHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MetricsHandlerTest {

    private static final NodeSnapshot NODE = NodeFixture.node(2);
    private static final String PROMETHEUS_ACCEPT =
            "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
                    + "text/plain;version=1.0.0;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger scrapes = new AtomicInteger();
    private final AtomicLong clock = new AtomicLong(1_000_000_000L);
    private volatile List<String> pending = List.of();
    private volatile boolean broken;
    private volatile boolean storing = true;
    private WebServer server;

    @BeforeEach
    void start() {
        ProcessOwners owners = new ProcessOwners(new NodeTree(folder).paths());
        Scraper scraper = new Scraper(
                () -> {
                    scrapes.incrementAndGet();
                    if (broken) {
                        throw new IllegalStateException("for this test");
                    }
                    return NODE;
                },
                Scrapes.sampler(),
                new NodeMemory(owners),
                new ProcessStatsReader(),
                new Exposition(MetricsOptions.of(false, false, false)),
                clock::get);
        server = WebServer.start(
                new ListenAddress("127.0.0.1", 0),
                List.of(
                        new ProbeHandler(() -> pending, () -> storing ? "" : "events are not stored now"),
                        new MetricsHandler(scraper),
                        PageHandler.create()));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpRequest.Builder request(String path) {
        InetSocketAddress address = server.address();
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + path))
                .timeout(Duration.ofSeconds(20));
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @Test
    void plainClientsGetTheOlderFormat() throws Exception {
        HttpResponse<String> response = get("/metrics");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(header(response, "Content-Type")).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
        assertThat(header(response, "Content-Encoding")).isEmpty();
        assertThat(response.body())
                .contains("gpuwarden_gpu_temperature_celsius{gpu=\"1\"")
                .doesNotContain("# EOF");
    }

    @Test
    void prometheusGetsOpenMetricsAndCompression() throws Exception {
        HttpRequest request = request("/metrics")
                .header("Accept", PROMETHEUS_ACCEPT)
                .header("Accept-Encoding", "gzip")
                .build();
        HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
        assertThat(header(response, "Content-Type"))
                .isEqualTo("application/openmetrics-text; version=1.0.0; charset=utf-8");
        assertThat(header(response, "Content-Encoding")).isEqualTo("gzip");
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(response.body()))) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(text)
                    .contains("gpuwarden_gpu_energy_joules_total{gpu=\"1\"")
                    .endsWith("# EOF\n");
            assertThat(text.length()).isGreaterThan(5 * response.body().length);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|PROMETHEUS",
                "*/*|PROMETHEUS",
                "text/html|PROMETHEUS",
                "application/openmetrics-text|OPEN_METRICS",
                "application/openmetrics-text;q=0|PROMETHEUS",
                "application/openmetrics-text;q=0.2,text/plain|PROMETHEUS",
                "Application/OpenMetrics-Text; version=1.0.0 ; q=0.9 , text/plain;q=0.5|OPEN_METRICS",
                "application/openmetrics-text;q=x|PROMETHEUS",
                ";;,,=;q|PROMETHEUS"
            })
    void acceptHeaderSelectsTheFormat(String accept, TextFormat format) {
        assertThat(TextFormat.negotiate(accept)).isEqualTo(format);
    }

    @Test
    void concurrentScrapesShareOneExposition() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all.add(client.sendAsync(request("/metrics").build(), HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> one : all) {
            assertThat(one.get().statusCode()).isEqualTo(200);
        }
        assertThat(scrapes).hasValue(1);
        clock.addAndGet(1_100_000_000L);
        String later = get("/metrics").body();
        assertThat(scrapes).hasValue(2);
        assertThat(later).contains("gpuwarden_scrapes_total 1.0");
    }

    @Test
    void readinessFollowsTheNodeAndLivenessDoesNot() throws Exception {
        pending = List.of("GPU-1 was not read yet");
        HttpResponse<String> waiting = get("/readyz");
        assertThat(waiting.statusCode()).isEqualTo(503);
        assertThat(waiting.body()).isEqualTo("GPU-1 was not read yet\n");
        assertThat(get("/healthz").statusCode()).isEqualTo(200);
        pending = List.of();
        assertThat(get("/readyz").body()).isEqualTo("ok\n");
        storing = false;
        assertThat(get("/readyz").statusCode()).isEqualTo(200);
        assertThat(get("/readyz").body()).isEqualTo("ok, but events are not stored now\n");
    }

    @Test
    void failedExpositionIsAnErrorWithoutDetails() throws Exception {
        broken = true;
        HttpResponse<String> response = get("/metrics");
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).isEqualTo("internal server error; see the log\n");
        broken = false;
        assertThat(get("/metrics").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/metrics/", "/metric", "/favicon.ico", "/..%2f..%2fetc/passwd", "//metrics"})
    void otherPathsAreNotFound(String path) throws Exception {
        assertThat(get(path).statusCode()).isEqualTo(404);
    }

    @Test
    void rootPageLinksToTheOthers() throws Exception {
        HttpResponse<String> response = get("/");
        assertThat(header(response, "Content-Type")).startsWith("text/html");
        assertThat(response.body()).contains("href=\"metrics\"", "href=\"healthz\"", "href=\"readyz\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
    void otherMethodsAreNotAllowed(String method) throws Exception {
        HttpRequest request = request("/metrics")
                .method(method, HttpRequest.BodyPublishers.ofString("x"))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(header(response, "Allow")).isEqualTo("GET, HEAD");
        assertThat(scrapes).hasValue(0);
    }

    @Test
    void headReturnsTheLengthWithoutABody() throws Exception {
        HttpRequest head = request("/metrics")
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<String> response = client.send(head, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
        assertThat(Long.parseLong(header(response, "Content-Length")))
                .isEqualTo(get("/metrics").body().getBytes(StandardCharsets.UTF_8).length);
    }

    @Test
    void addressInUseIsAUserError() {
        ListenAddress taken = new ListenAddress("127.0.0.1", server.address().getPort());
        assertThatThrownBy(() -> WebServer.start(taken, List.of()))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("cannot listen on 127.0.0.1:" + taken.port())
                .hasMessageContaining("--web.listen-address");
    }

    private List<Socket> unfinishedRequests(int count) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Socket socket = new Socket("127.0.0.1", server.address().getPort());
            sockets.add(socket);
            try {
                socket.getOutputStream()
                        .write("GET /metrics HTTP/1.1\r\nHost: x\r\n".getBytes(StandardCharsets.US_ASCII));
            } catch (IOException closedByServer) {
                break;
            }
        }
        return sockets;
    }

    @Test
    void unfinishedRequestsDoNotStarveOthers() throws Exception {
        List<Socket> slow = unfinishedRequests(40);
        assertThat(slow).hasSize(40);
        assertThat(get("/metrics").statusCode()).isEqualTo(200);
        for (Socket socket : slow) {
            socket.close();
        }
    }

    @Test
    void serverAnswersAfterAFlood() throws Exception {
        for (Socket socket : unfinishedRequests(150)) {
            socket.close();
        }
        assertThat(getWhenAnswered("/metrics")).isEqualTo(200);
    }

    /** Connections beyond the limit are closed; that ends when the flood does. */
    private int getWhenAnswered(String path) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return get(path).statusCode();
            } catch (IOException e) {
                assertThat(attempt).as(e.toString()).isLessThan(100);
            }
        }
    }

    @Test
    void closedServerDoesNotAnswer() throws Exception {
        get("/metrics");
        server.close();
        assertThatThrownBy(() -> get("/metrics")).isInstanceOf(IOException.class);
    }
}
