package dev.gpuwarden.daemon.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Serves `/metrics`, `/healthz` and `/readyz`. No thread of it waits for the driver; none is kept while nobody asks. */
public final class MetricsServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(MetricsServer.class.getName());
    /** One waits in each request that is not complete yet, so many slow clients are needed before others are turned away. */
    private static final int MAX_THREADS = 64;

    private static final int BACKLOG = 64;
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String INDEX = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>gpuwarden</title></head>
            <body><h1>gpuwarden</h1>
            <ul>
            <li><a href="/metrics">/metrics</a> for Prometheus</li>
            <li><a href="/healthz">/healthz</a> whether the daemon lives</li>
            <li><a href="/readyz">/readyz</a> whether every GPU was looked at</li>
            </ul></body></html>
            """;

    static {
        // Read once, when the JDK's server is first used. A client that sends or takes its bytes too slowly is cut off.
        limit("sun.net.httpserver.maxReqTime", "5");
        limit("sun.net.httpserver.maxRspTime", "15");
        limit("sun.net.httpserver.maxReqHeaders", "64");
        limit("sun.net.httpserver.nodelay", "true");
        limit("jdk.httpserver.maxConnections", "256");
    }

    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final Scraper scraper;
    private final Supplier<List<String>> pending;
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    private MetricsServer(HttpServer server, Scraper scraper, Supplier<List<String>> pending) {
        this.server = server;
        this.scraper = scraper;
        this.pending = pending;
        AtomicInteger number = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(0, MAX_THREADS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, "gpuwarden-http-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Starts serving. Throws {@link UserError} when the address cannot be had.
     *
     * @param pending what is still waited for before this node counts as ready, see {@link Readiness}
     */
    public static MetricsServer start(ListenAddress address, Scraper scraper, Supplier<List<String>> pending) {
        HttpServer server;
        try {
            server = HttpServer.create(address.resolve(), BACKLOG);
        } catch (BindException e) {
            throw new UserError("cannot listen on " + address + ": " + e.getMessage()
                    + "; choose another --web.listen-address, or stop what holds it");
        } catch (IOException e) {
            throw new UserError("cannot listen on " + address + ": " + e.getMessage());
        }
        MetricsServer metrics = new MetricsServer(server, scraper, pending);
        server.setExecutor(metrics.threads);
        server.createContext("/", metrics::handle);
        server.start();
        return metrics;
    }

    /** Where it listens, with the port that was taken where 0 was asked for. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String method = exchange.getRequestMethod();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                send(exchange, 405, TEXT, "only GET and HEAD\n");
                return;
            }
            switch (exchange.getRequestURI().getPath()) {
                case "/metrics" -> metrics(exchange);
                case "/healthz" -> send(exchange, 200, TEXT, "ok\n");
                case "/readyz" -> ready(exchange);
                case "/" -> send(exchange, 200, "text/html; charset=utf-8", INDEX);
                default -> send(exchange, 404, TEXT, "not found\n");
            }
        } catch (RuntimeException e) {
            if (failureLogged.compareAndSet(false, true)) {
                LOG.log(Level.ERROR, "a request failed; further cases are not logged", e);
            }
        }
    }

    private void ready(HttpExchange exchange) throws IOException {
        List<String> waiting = pending.get();
        if (waiting.isEmpty()) {
            send(exchange, 200, TEXT, "ok\n");
        } else {
            send(exchange, 503, TEXT, String.join("\n", waiting) + "\n");
        }
    }

    private void metrics(HttpExchange exchange) throws IOException {
        TextFormat format = TextFormat.negotiate(header(exchange, "Accept"));
        boolean gzip = HeaderPreference.of(header(exchange, "Accept-Encoding"), "gzip") > 0;
        byte[] body;
        try {
            body = scraper.text(format, gzip);
        } catch (RuntimeException e) {
            send(exchange, 500, TEXT, "the metrics could not be made\n");
            throw e;
        }
        exchange.getResponseHeaders().set("Vary", "Accept, Accept-Encoding");
        if (gzip) {
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
        }
        send(exchange, 200, format.contentType(), body);
    }

    private static void send(HttpExchange exchange, int status, String type, String body) throws IOException {
        send(exchange, status, type, body.getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, -1);
            return;
        }
        exchange.sendResponseHeaders(status, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static String header(HttpExchange exchange, String name) {
        List<String> values = exchange.getRequestHeaders().get(name);
        return values == null ? "" : String.join(",", values);
    }

    private static void limit(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /** Stops at once; scrapes under way are cut off. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
