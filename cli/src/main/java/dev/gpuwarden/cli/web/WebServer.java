package dev.gpuwarden.cli.web;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Serves its sites over HTTP, to read only. No thread is kept while nobody asks. */
public final class WebServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(WebServer.class.getName());
    /** One waits in each request that is not complete yet, so many slow clients are needed before others are turned away. */
    private static final int MAX_THREADS = 64;

    private static final int BACKLOG = 64;

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
    private final List<Site> sites;
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    private WebServer(HttpServer server, List<Site> sites) {
        this.server = server;
        this.sites = sites;
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
     * @param sites asked in this order
     */
    public static WebServer start(ListenAddress address, List<Site> sites) {
        HttpServer server;
        try {
            server = HttpServer.create(address.resolve(), BACKLOG);
        } catch (BindException e) {
            throw new UserError("cannot listen on " + address + ": " + e.getMessage()
                    + "; choose another --web.listen-address, or stop what holds it");
        } catch (IOException e) {
            throw new UserError("cannot listen on " + address + ": " + e.getMessage());
        }
        WebServer web = new WebServer(server, List.copyOf(sites));
        server.setExecutor(web.threads);
        server.createContext("/", web::handle);
        server.start();
        return web;
    }

    /** Where it listens, with the port that was taken where 0 was asked for. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String method = exchange.getRequestMethod();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                send(exchange, Answer.text(405, "only GET and HEAD\n").with("Allow", "GET, HEAD"));
                return;
            }
            send(exchange, answer(request(exchange)));
        }
    }

    private Answer answer(Request request) {
        try {
            for (Site site : sites) {
                Optional<Answer> answer = site.answer(request);
                if (answer.isPresent()) {
                    return answer.get();
                }
            }
            return Answer.NOT_FOUND;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Answer.text(503, "the program ends\n");
        } catch (RuntimeException e) {
            if (failureLogged.compareAndSet(false, true)) {
                LOG.log(Level.ERROR, "a request failed; further cases are not logged", e);
            }
            return Answer.text(500, "this could not be answered; the log says why\n");
        }
    }

    private static Request request(HttpExchange exchange) {
        Headers headers = exchange.getRequestHeaders();
        return new Request(
                exchange.getRequestURI().getPath(),
                parameters(exchange.getRequestURI().getRawQuery()),
                exchange.getRemoteAddress().getAddress(),
                name -> String.join(",", headers.getOrDefault(name, List.of())));
    }

    static Map<String, String> parameters(@org.jspecify.annotations.Nullable String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : query == null ? new String[0] : query.split("&", 64)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                parameters.put(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
            }
        }
        return parameters;
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", answer.type());
        headers.set("X-Content-Type-Options", "nosniff");
        answer.headers().forEach(headers::set);
        if (answer.flow().isPresent()) {
            exchange.sendResponseHeaders(
                    answer.status(), exchange.getRequestMethod().equals("HEAD") ? -1 : 0);
            flow(exchange, answer.flow().get());
            return;
        }
        byte[] body = answer.body();
        if (exchange.getRequestMethod().equals("HEAD")) {
            headers.set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(answer.status(), -1);
            return;
        }
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static void flow(HttpExchange exchange, Answer.Flow flow) throws IOException {
        if (!exchange.getRequestMethod().equals("HEAD")) {
            try (OutputStream out = exchange.getResponseBody()) {
                flow.write(out);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void limit(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /** Stops at once; requests under way are cut off. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
