package dev.gpuwarden.testkit.cluster;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
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

/**
 * Stands between any client and an API server, over plain HTTP on loopback, and lets go wrong what it is told to. Who sends a
 * token is who the token says, and who sends none is the administrator. What is not told to go wrong passes as it is; watches
 * pass event by event. Thread-safe. Where nobody needs to know about single requests, {@link Relay} is less.
 */
public final class FaultyApi implements AutoCloseable {

    private final ControlPlane plane;
    private final ApiForwarder passing;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "gpuwarden-faulty-api");
        thread.setDaemon(true);
        return thread;
    });
    private final List<ApiFault.Rule> rules = new ArrayList<>();
    private final Queue<ApiCall> calls = new ConcurrentLinkedQueue<>();
    private final Set<HttpExchange> open = ConcurrentHashMap.newKeySet();
    private volatile CountDownLatch hanging = new CountDownLatch(1);

    public FaultyApi(ControlPlane plane) throws IOException {
        this.plane = plane;
        this.passing = new ApiForwarder(plane);
        // Else each answer of two pieces waits 40 ms for the client's acknowledgement of the first.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** The text of a file for the administrator. */
    public String kubeconfig() {
        return Kubeconfig.ofCertificate(url(), plane.caCertificate(), plane.adminCertificate(), plane.adminKey());
    }

    /** The text of a file for who holds this token. */
    public String kubeconfig(String token) {
        return Kubeconfig.ofToken(url(), plane.caCertificate(), token);
    }

    // ---- faults ----

    /** The next so many of these requests; where several rules fit, the first that is not used up. */
    public void fail(Predicate<ApiCall> these, long times, ApiFault fault) {
        synchronized (rules) {
            rules.add(new ApiFault.Rule(these, times, fault));
        }
    }

    /** All of these requests from now on. */
    public void fail(Predicate<ApiCall> these, ApiFault fault) {
        fail(these, Long.MAX_VALUE, fault);
    }

    /** From now on all is well; what hangs is cut. */
    public void heal() {
        synchronized (rules) {
            rules.clear();
        }
        CountDownLatch before = hanging;
        hanging = new CountDownLatch(1);
        before.countDown();
    }

    /** Cuts every request that is under way, watches above all. */
    public void cut() {
        open.forEach(HttpExchange::close);
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

    // ---- what was asked ----

    /** How many of these requests there were since the start, whatever became of them. */
    public long count(Predicate<ApiCall> these) {
        return calls.stream().filter(these).count();
    }

    /** All requests since the start, in the order in which they came. */
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
        open.add(exchange);
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            befall(next(call), exchange, body);
        } catch (IOException e) {
            // One of the two sides has gone; the other sees the end of the connection.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            open.remove(exchange);
        }
    }

    /** Who asks for a web socket to watch by is answered as by a proxy that has none, and watches by plain HTTP then. */
    private static void noWebSocket(HttpExchange exchange) {
        try (exchange) {
            exchange.sendResponseHeaders(200, -1);
        } catch (IOException e) {
            // Gone already.
        }
    }

    private void befall(ApiFault fault, HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
        if (fault instanceof ApiFault.Answer answer) {
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            byte[] text = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), text.length);
            exchange.getResponseBody().write(text);
        } else if (fault instanceof ApiFault.Hang) {
            hanging.await();
        } else if (fault instanceof ApiFault.CutAfter) {
            passing.send(exchange, body).body().close();
        } else if (fault instanceof ApiFault.Delay delay) {
            var unused = hanging.await(delay.time().toNanos(), TimeUnit.NANOSECONDS);
            pass(exchange, passing.send(exchange, body));
        }
        // CutBefore: closing the exchange without an answer closes the connection.
    }

    private static void pass(HttpExchange exchange, HttpResponse<InputStream> answer) throws IOException {
        try (InputStream in = answer.body()) {
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
            out.close();
        }
    }

    @Override
    public void close() {
        heal();
        cut();
        server.stop(0);
        threads.shutdownNow();
    }
}
