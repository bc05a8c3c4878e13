package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("api")
class FaultyApiTest {

    private static final String MAPS = "/api/v1/namespaces/default/configmaps";
    private static final AtomicInteger NAMES = new AtomicInteger();

    @TempDir
    Path folder;

    private final String name = "faulty-" + NAMES.incrementAndGet();
    private final HttpClient client = HttpClient.newHttpClient();
    private ControlPlane plane;
    private FaultyApi api;

    @BeforeEach
    void start() throws IOException {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        api = new FaultyApi(plane);
    }

    @AfterEach
    void stop() {
        if (api != null) {
            api.close();
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(api.url() + path)).timeout(Duration.ofMinutes(2));
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(request(path).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> create() throws IOException, InterruptedException {
        return client.send(creation(), BodyHandlers.ofString());
    }

    private HttpRequest creation() {
        String body = "{\"metadata\":{\"name\":\"" + name + "\"}}";
        return request(MAPS)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    private String made() {
        return plane.kubectl("get", "configmap", name, "--ignore-not-found", "--output=name");
    }

    @Test
    void requestsPassWithTheirCredentials() throws Exception {
        Path admin = Files.writeString(folder.resolve("admin"), api.kubeconfig());
        assertThat(plane.kubectl(admin, "get", "--raw=/readyz")).isEqualTo("ok");
        assertThat(plane.kubectl(admin, "get", "namespace", "default", "--output=name"))
                .isEqualTo("namespace/default\n");
        plane.kubectl(admin, "create", "configmap", name);
        plane.kubectl(admin, "patch", "configmap", name, "--type=merge", "--patch={\"data\":{\"a\":\"b\"}}");
        assertThat(plane.kubectl("get", "configmap", name, "--output=jsonpath={.data.a}"))
                .isEqualTo("b");
        plane.apply("""
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: nobody, namespace: default}
                """);
        HttpResponse<String> answer = client.send(
                request(MAPS)
                        .header("Authorization", "Bearer " + plane.token("default", "nobody"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(answer.body()).contains("system:serviceaccount:default:nobody");
        assertThat(api.count(ApiCall.of("PATCH", "configmaps/" + name))).isEqualTo(1);
    }

    @Test
    void faultAppliesToGivenNumberOfRequests() throws Exception {
        api.fail(ApiCall.of("GET", "configmaps"), 1, ApiFault.tooMany(Duration.ofSeconds(7)));
        api.fail(ApiCall.of("GET", "configmaps"), 2, ApiFault.broken());
        HttpResponse<String> first = get(MAPS);
        assertThat(first.statusCode()).isEqualTo(429);
        assertThat(first.headers().firstValue("Retry-After")).contains("7");
        assertThat(get("/api/v1/namespaces").statusCode()).isEqualTo(200);
        assertThat(get(MAPS).statusCode()).isEqualTo(500);
        assertThat(get(MAPS).statusCode()).isEqualTo(500);
        assertThat(get(MAPS).statusCode()).isEqualTo(200);
        assertThat(api.calls()).hasSize(5);
        api.fail(ApiCall.any(), ApiFault.unavailable());
        assertThat(get(MAPS).statusCode()).isEqualTo(503);
        assertThat(get("/version").statusCode()).isEqualTo(503);
        api.heal();
        assertThat(get(MAPS).statusCode()).isEqualTo(200);
    }

    @Test
    void cutBeforeChangesNothingAndCutAfterKeepsTheChange() throws Exception {
        // JDK's client asks once more by itself, what it may; of a POST it does not.
        api.fail(ApiCall.of("POST", "configmaps"), 1, new ApiFault.CutBefore());
        assertThatThrownBy(this::create).isInstanceOf(IOException.class);
        assertThat(made()).isEmpty();
        api.fail(ApiCall.of("POST", "configmaps"), 1, new ApiFault.CutAfter());
        assertThatThrownBy(this::create).isInstanceOf(IOException.class);
        assertThat(made()).isEqualTo("configmap/" + name + "\n");
        assertThat(create().statusCode()).isEqualTo(409);
    }

    @Test
    void hangingRequestIsCutWhenFaultsEnd() throws Exception {
        api.fail(ApiCall.of("POST", "configmaps"), new ApiFault.Hang());
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(creation(), BodyHandlers.ofString());
        Await.until(() -> api.count(ApiCall.any()) == 1, () -> "nothing was asked");
        assertThat(get("/livez").statusCode()).isEqualTo(200);
        assertThat(answer).isNotDone();
        api.heal();
        assertThatThrownBy(() -> answer.get(1, TimeUnit.MINUTES)).hasCauseInstanceOf(IOException.class);
        assertThat(made()).isEmpty();
    }

    @Test
    void delayedRequestIsAnsweredLater() throws Exception {
        api.fail(ApiCall.any(), new ApiFault.Delay(Duration.ofMillis(300)));
        long before = System.nanoTime();
        assertThat(get("/version").statusCode()).isEqualTo(200);
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(300_000_000L);
    }

    @Test
    void watchesPassEventByEventUntilTheyAreCut() throws Exception {
        try (Stream<String> lines = watch().body()) {
            Iterator<String> events = lines.iterator();
            plane.kubectl("create", "configmap", name);
            assertThat(events.next()).contains("ADDED", name);
            plane.kubectl("delete", "configmap", name);
            assertThat(events.next()).contains("DELETED", name);
            api.cut();
            assertThatThrownBy(events::next).isInstanceOf(UncheckedIOException.class);
        }
        api.fail(ApiCall.watch("configmaps"), 1, ApiFault.goneInWatch());
        try (Stream<String> lines = watch().body()) {
            assertThat(lines).singleElement().asString().contains("ERROR", "\"code\":410");
        }
        api.fail(ApiCall.watch("configmaps"), 1, ApiFault.gone());
        assertThat(watch().statusCode()).isEqualTo(410);
        assertThat(api.count(ApiCall.watch("configmaps"))).isEqualTo(3);
    }

    private HttpResponse<Stream<String>> watch() throws IOException, InterruptedException {
        String only = "?watch=true&fieldSelector=metadata.name%3D" + name;
        return client.send(request(MAPS + only).build(), BodyHandlers.ofLines());
    }
}
