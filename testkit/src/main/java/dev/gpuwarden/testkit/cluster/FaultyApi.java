package dev.gpuwarden.testkit.cluster;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.cluster.Certificates.Kubeconfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * A proxy between clients and an API server, over plain HTTP on loopback, that injects faults. A request with a token has the
 * rights of the token, one without has the administrator's. Requests without a fault pass unchanged; watches pass event by event.
 * Thread-safe. {@link Relay} is simpler where single requests do not matter.
 */
public final class FaultyApi implements AutoCloseable {

    private final ControlPlane plane;
    private final Forwarder forwarder;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(Threads.daemon("gpuwarden-faulty-api"));
    private final List<ApiFault.Rule> rules = new ArrayList<>();
    private final Queue<ApiCall> calls = new ConcurrentLinkedQueue<>();
    private final Set<Open> open = ConcurrentHashMap.newKeySet();
    private volatile CountDownLatch hanging = new CountDownLatch(1);

    public FaultyApi(ControlPlane plane) throws IOException {
        this.plane = plane;
        this.forwarder = new Forwarder(plane);
        // Without it an answer of two pieces waits 40 ms for the client's acknowledgement of the first.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns the text of the administrator's kubeconfig. */
    public String kubeconfig() {
        return Kubeconfig.ofCertificate(url(), plane.caCertificate(), plane.adminCertificate(), plane.adminKey());
    }

    /** Returns the text of a kubeconfig with this token. */
    public String kubeconfig(String token) {
        return Kubeconfig.ofToken(url(), plane.caCertificate(), token);
    }

    // ---- faults ----

    /** Injects the fault into this number of matching requests. If several rules match, the first that is not used up applies. */
    public void fail(Predicate<ApiCall> these, long times, ApiFault fault) {
        synchronized (rules) {
            rules.add(new ApiFault.Rule(these, times, fault));
        }
    }

    /** Injects the fault into all matching requests from now on. */
    public void fail(Predicate<ApiCall> these, ApiFault fault) {
        fail(these, Long.MAX_VALUE, fault);
    }

    /** Ends all faults; cuts the requests that hang. */
    public void heal() {
        synchronized (rules) {
            rules.clear();
        }
        CountDownLatch before = hanging;
        hanging = new CountDownLatch(1);
        before.countDown();
    }

    /** Cuts all open requests, watches included. A client never takes a cut answer for a complete one. */
    public void cut() {
        open.forEach(Open::cut);
    }

    private ApiFault next(ApiCall call) {
        synchronized (rules) {
            for (int i = 0; i < rules.size(); i++) {
                ApiFault.Rule rule = rules.get(i);
                if (rule.calls().test(call)) {
                    if (rule.times() > 1) {
                        rules.set(i, new ApiFault.Rule(rule.calls(), rule.times() - 1, rule.fault()));
                    } else {
                        rules.remove(i);
                    }
                    return rule.fault();
                }
            }
            return new ApiFault.Delay(Duration.ZERO);
        }
    }

    // ---- requests ----

    /** Returns the number of matching requests since the start, with or without a fault. */
    public long count(Predicate<ApiCall> these) {
        return calls.stream().filter(these).count();
    }

    /** Returns all requests since the start, in order of arrival. */
    public List<ApiCall> calls() {
        return List.copyOf(calls);
    }

    // ---- a request ----

    private void handle(HttpExchange exchange) {
        if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
            noWebSocket(exchange);
            return;
        }
        String query = exchange.getRequestURI().getRawQuery();
        ApiCall call = new ApiCall(
                exchange.getRequestMethod(), exchange.getRequestURI().getPath(), query == null ? "" : query);
        calls.add(call);
        Open mine = new Open();
        open.add(mine);
        try {
            byte[] body = exchange.getRequestBody().readAllBytes();
            befall(next(call), exchange, body, mine);
        } catch (IOException | InterruptedException e) {
            // One of the two sides has gone, or the request is cut.
            mine.cut();
        } finally {
            open.remove(mine);
        }
        if (mine.end()) {
            // The server then closes the connection. The exchange's close would end the answer as if it were complete.
            throw new IllegalStateException("cut");
        }
        exchange.close();
    }

    /** A request in progress, in its own thread. Thread-safe. */
    private static final class Open {
        private final Thread thread = Thread.currentThread();
        private @Nullable InputStream answer;
        private boolean cut;
        private boolean ended;

        /** Sets the answer that the thread reads. An interrupt does not end its reads. */
        synchronized void reads(InputStream from) throws IOException {
            answer = from;
            if (cut) {
                from.close();
            }
        }

        synchronized void cut() {
            if (ended) {
                return;
            }
            cut = true;
            thread.interrupt();
            try {
                if (answer != null) {
                    answer.close();
                }
            } catch (IOException e) {
                // Closed already.
            }
        }

        /** Ends the request: its thread gets no interrupt any more. Returns true if it was cut. */
        synchronized boolean end() {
            ended = true;
            var unused = Thread.interrupted();
            return cut;
        }
    }

    /** Refuses web sockets as a proxy without them does: clients then watch by plain HTTP. */
    private static void noWebSocket(HttpExchange exchange) {
        try (exchange) {
            exchange.sendResponseHeaders(200, -1);
        } catch (IOException e) {
            // Gone already.
        }
    }

    private void befall(ApiFault fault, HttpExchange exchange, byte[] body, Open mine)
            throws IOException, InterruptedException {
        if (fault instanceof ApiFault.Answer answer) {
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            byte[] text = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), text.length);
            exchange.getResponseBody().write(text);
        } else if (fault instanceof ApiFault.Hang) {
            hanging.await();
        } else if (fault instanceof ApiFault.CutAfter) {
            forwarder.send(exchange, body).body().close();
        } else if (fault instanceof ApiFault.Delay delay) {
            var unused = hanging.await(delay.time().toNanos(), TimeUnit.NANOSECONDS);
            pass(exchange, forwarder.send(exchange, body), mine);
        }
        // CutBefore: closing the exchange without an answer closes the connection.
    }

    private static void pass(HttpExchange exchange, HttpResponse<InputStream> answer, Open mine) throws IOException {
        try (InputStream in = answer.body()) {
            mine.reads(in);
            answer.headers()
                    .firstValue("Content-Type")
                    .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
            exchange.sendResponseHeaders(answer.statusCode(), 0);
            OutputStream out = exchange.getResponseBody();
            byte[] buffer = new byte[16 << 10];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                out.write(buffer, 0, length);
                out.flush();
            }
        }
    }

    @Override
    public void close() {
        heal();
        cut();
        server.stop(0);
        threads.shutdownNow();
    }

    /** Forwards requests of a proxy to the API server. Thread-safe. */
    static final class Forwarder {

        private static final List<String> PASSED = List.of("Accept", "Authorization", "Content-Type", "User-Agent");

        private final String target;
        /** Two clients, since the API server prefers a certificate to a token. */
        private final HttpClient admin;

        private final HttpClient others;

        Forwarder(ControlPlane plane) throws IOException {
            this.target = plane.url();
            this.admin = client(ClientTls.context(plane, true));
            this.others = client(ClientTls.context(plane, false));
        }

        private static HttpClient client(SSLContext context) {
            return HttpClient.newBuilder()
                    .sslContext(context)
                    .version(HttpClient.Version.HTTP_1_1)
                    .build();
        }

        HttpResponse<InputStream> send(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(target + exchange.getRequestURI()))
                    .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
            for (String name : PASSED) {
                exchange.getRequestHeaders()
                        .getOrDefault(name, List.of())
                        .forEach(value -> request.header(name, value));
            }
            boolean token = exchange.getRequestHeaders().containsKey("Authorization");
            return (token ? others : admin).send(request.build(), BodyHandlers.ofInputStream());
        }
    }
}
