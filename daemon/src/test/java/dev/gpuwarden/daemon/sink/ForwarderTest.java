package dev.gpuwarden.daemon.sink;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForwarderTest {

    @TempDir
    Path folder;

    private EventStore store;

    @BeforeEach
    void open() {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void tell(String id) {
        store.accept(HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id(id)
                .fatal(true)
                .errorCodes(List.of("79"))
                .entities(List.of(Entity.gpu("GPU-" + id)))
                .message("told as " + id)
                .build());
    }

    // ---- file ----

    private final class Lines {
        private final Path file = folder.resolve("events.jsonl");

        Forwarder start() {
            return Forwarder.start(new FileSink(file, 4096), store, store);
        }

        List<String> ids() throws IOException {
            return Files.readAllLines(file).stream()
                    .map(line -> line.replaceAll("^\\{\"id\": ?\"([^\"]+)\".*", "$1"))
                    .toList();
        }
    }

    @Test
    void aFileGetsEveryEventOnceAndInOrder() throws Exception {
        Lines lines = new Lines();
        try (Forwarder forwarder = lines.start()) {
            tell("a");
            tell("b");
            until(() -> forwarder.stats().sent() == 2);
            assertThat(forwarder.stats().lag().waiting()).isZero();
        }
        assertThat(lines.ids()).containsExactly("a", "b");
    }

    @Test
    void theNextDaemonSendsEventsThatWereNotSent() throws Exception {
        Lines lines = new Lines();
        lines.start().close();
        tell("a");
        try (Forwarder forwarder = lines.start()) {
            until(() -> forwarder.stats().sent() == 1);
        }
        assertThat(lines.ids()).containsExactly("a");
    }

    @Test
    void writtenEventsAppearOnceAndAPartialLineIsRemoved() throws Exception {
        Lines lines = new Lines();
        lines.start().close();
        tell("a");
        tell("b");
        // The file of a killed daemon: "a" is complete, "b" is not, and neither is acknowledged in the store.
        Files.writeString(lines.file, "{\"id\":\"a\",\"sequence\":1}\n{\"id\":\"b\",\"sequ");
        try (Forwarder forwarder = lines.start()) {
            until(() -> forwarder.stats().sent() == 2);
        }
        assertThat(lines.ids()).containsExactly("a", "b");
        assertThat(Files.readString(lines.file)).endsWith("}\n");
    }

    @Test
    void aFileThatHasGrownBecomesTheOneBefore() throws Exception {
        Lines lines = new Lines();
        Files.writeString(lines.file, "x".repeat(4000) + "\n", StandardOpenOption.CREATE);
        try (Forwarder forwarder = lines.start()) {
            tell("a");
            until(() -> forwarder.stats().sent() == 1);
        }
        assertThat(lines.ids()).containsExactly("a");
        assertThat(Files.size(folder.resolve("events.jsonl.1"))).isEqualTo(4001);
    }

    // ---- webhook ----

    /** An HTTP server that gives scripted answers and keeps the requests. */
    private static final class Receiver implements AutoCloseable {
        final List<String> bodies = new CopyOnWriteArrayList<>();
        final List<String> tokens = new CopyOnWriteArrayList<>();
        private final HttpServer server;
        private final IntUnaryOperator answers;
        private int requests;

        Receiver(IntUnaryOperator answers) throws IOException {
            this.answers = answers;
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::take);
            server.start();
        }

        private synchronized void take(HttpExchange exchange) throws IOException {
            try (exchange) {
                String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                int status = body.contains("\"poison\"") ? 422 : answers.applyAsInt(requests++);
                if (status == 200) {
                    bodies.add(body);
                    tokens.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
                }
                exchange.sendResponseHeaders(status, -1);
            }
        }

        URI address() {
            return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/events");
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private Forwarder webhook(Receiver receiver, Optional<Path> token) {
        return Forwarder.start(new WebhookSink(receiver.address(), token, "node-7"), store, store);
    }

    @Test
    void aWebhookGetsEventsWithItsToken() throws Exception {
        Path token = Files.writeString(folder.resolve("token"), "secret\n");
        try (Receiver receiver = new Receiver(n -> 200);
                Forwarder forwarder = webhook(receiver, Optional.of(token))) {
            tell("a");
            until(() -> forwarder.stats().sent() == 1);
            assertThat(receiver.bodies.get(0)).contains("\"node-7\"", "\"a\"", "told as a");
            assertThat(receiver.tokens).containsExactly("Bearer secret");
        }
    }

    @Test
    void aServerThatFailsIsTriedAgainAndGetsEverything() throws Exception {
        try (Receiver receiver = new Receiver(n -> n == 0 ? 503 : 200);
                Forwarder forwarder = webhook(receiver, Optional.empty())) {
            tell("a");
            until(() -> forwarder.stats().failures() == 1);
            assertThat(forwarder.stats().lastError()).contains("503");
            assertThat(forwarder.stats().lag().waiting()).isEqualTo(1);
            tell("b");
            until(() -> forwarder.stats().sent() == 2);
            assertThat(forwarder.stats().lastError()).isEmpty();
            assertThat(String.join("\n", receiver.bodies)).contains("told as a", "told as b");
        }
    }

    @Test
    void anEventThatIsNeverTakenHoldsUpNoOther() throws Exception {
        try (Receiver receiver = new Receiver(n -> 200)) {
            webhook(receiver, Optional.empty()).close();
            for (String id : List.of("a", "b", "poison", "c", "d")) {
                tell(id);
            }
            try (Forwarder forwarder = webhook(receiver, Optional.empty())) {
                until(() -> forwarder.stats().sent() == 4);
                assertThat(forwarder.stats().refused()).isEqualTo(1);
                assertThat(forwarder.stats().lag().waiting()).isZero();
            }
            assertThat(String.join("\n", receiver.bodies))
                    .contains("told as a", "told as b", "told as c", "told as d")
                    .doesNotContain("poison");
        }
    }

    @Test
    void aServerThatIsAwayDelaysNoShutdown() throws Exception {
        URI nobody;
        try (Receiver receiver = new Receiver(n -> 200)) {
            nobody = receiver.address();
        }
        Forwarder forwarder = Forwarder.start(new WebhookSink(nobody, Optional.empty(), "node-7"), store, store);
        tell("a");
        until(() -> forwarder.stats().failures() == 1);
        forwarder.close();
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .as("it does not go on waiting")
                .doesNotContain("gpuwarden-sink-webhook");
    }
}
