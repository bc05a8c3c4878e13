package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.PageAuthorizer;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.web.GuardedHandler;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.HttpHandler.Limits;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.StaticHandler;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The page, its data, and the stream of its changes as server-sent events, for permitted users. It changes nothing. */
public final class FleetPage {

    private static final String API = "/api/v1/fleet";
    private static final String CHANGES = API + "/news";

    /** The number of threads. A request waits for the API server, and for earlier requests. */
    private static final int THREADS = 4;

    /** The number of listeners; each keeps a thread. A further one waits until one of them ends, which takes seconds. */
    private static final int MOST_LISTENERS = 32;

    /** The pause between two changes of one page: a burst becomes one change. */
    private static final Duration CALM = Duration.ofMillis(200);

    private static final Duration LOOK = Duration.ofSeconds(2);

    private FleetPage() {}

    /** Returns the handlers of the page and of its changes. */
    public static List<HttpHandler> of(FleetView view, KubeClient api, PageOptions options) {
        Access access = new Access(api, options);
        StaticHandler files = new StaticHandler(FleetPage.class);
        for (String script : List.of("main.js", "filter.js", "nodes.js", "pipeline.js", "around.js")) {
            files.script(FleetPage.class, script);
        }
        return Stream.of(
                        new Site(
                                CHANGES::equals,
                                Limits.READING.withThreads(MOST_LISTENERS),
                                request -> changes(view, request)),
                        new Site(
                                path -> path.equals(API) || files.has(path),
                                Limits.READING.withThreads(THREADS),
                                request -> request.path().equals(API) ? data(view) : files.answer(request)))
                .<HttpHandler>map(site -> new GuardedHandler(site, access))
                .toList();
    }

    private interface Answers {
        HttpAnswer answer(Request request) throws InterruptedException;
    }

    private record Site(Predicate<String> paths, Limits limits, Answers answers) implements HttpHandler {

        @Override
        public boolean has(String path) {
            return paths.test(path);
        }

        @Override
        public HttpAnswer answer(Request request) throws InterruptedException {
            return answers.answer(request);
        }
    }

    private static HttpAnswer data(FleetView view) throws InterruptedException {
        Object tree = view.since(0).tree().orElseThrow();
        return HttpAnswer.flowing("application/json", out -> Output.writeJsonLine(tree, out));
    }

    private static HttpAnswer changes(FleetView view, Request request) {
        String last = request.header().apply("Last-Event-ID");
        long seen = last.matches("[0-9]{1,18}") ? Long.parseLong(last) : 0;
        return HttpAnswer.flowing("text/event-stream", out -> writeChanges(view, out, seen));
    }

    /** Writes changes for a limited time. The browser then connects again, and sends the last revision that it received. */
    private static void writeChanges(FleetView view, OutputStream out, long last)
            throws IOException, InterruptedException {
        long seen = last;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(HttpAnswer.LONGEST_SECONDS);
        text(out, "retry: 200\n\n");
        while (System.nanoTime() < end) {
            FleetView.News news = view.since(seen);
            if (news.tree().isPresent()) {
                text(out, "id: " + news.revision() + "\ndata: ");
                Output.writeJsonLine(news.tree().get(), out);
                text(out, "\n\n");
                seen = news.revision();
            } else {
                // Only a write detects a browser that has disconnected.
                text(out, ":\n\n");
            }
            out.flush();
            TimeUnit.MILLISECONDS.sleep(CALM.toMillis());
            view.await(seen, LOOK);
        }
    }

    private static void text(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The access control of the fleet page: by a Kubernetes token over loopback or TLS, or by the headers of a trusted proxy.
     * Thread-safe.
     */
    private static final class Access implements GuardedHandler.Guard {

        private final PageAuthorizer visitors;
        private final PageOptions options;
        private final Set<InetAddress> proxies;

        Access(KubeClient api, PageOptions options) {
            this.visitors = new PageAuthorizer(api, System::nanoTime);
            this.options = options;
            this.proxies = options.trusted();
        }

        /** Blocks for the API server's answer. */
        @Override
        public Optional<HttpAnswer> refused(Request request) throws InterruptedException {
            boolean near = request.from().isLoopbackAddress();
            boolean proxy = proxies.contains(request.from());
            try {
                String user =
                        options.userHeader.isEmpty() ? "" : request.header().apply(options.userHeader);
                if (proxy && !user.isEmpty()) {
                    return judged(visitors.user(user, groups(request)));
                }
                if (!near && !proxy && !request.isSecure()) {
                    return Optional.of(
                            HttpAnswer.text(
                                    403,
                                    "this page is not shown over an open network: kubectl port-forward to a pod of the aggregator,"
                                            + " serve it over TLS (--web.config.file), or use a trusted proxy (--page.proxy)\n"));
                }
                String token = request.token();
                return token.isEmpty() ? Optional.of(unknown("")) : judged(visitors.token(token));
            } catch (ApiException e) {
                return Optional.of(HttpAnswer.text(
                        503, "your identity cannot be verified at the API server: " + e.getMessage() + "\n"));
            }
        }

        private List<String> groups(Request request) {
            return options.groupsHeader.isEmpty()
                    ? List.of()
                    : Stream.of(request.header().apply(options.groupsHeader).split(","))
                            .map(String::strip)
                            .filter(group -> !group.isEmpty())
                            .toList();
        }

        private static Optional<HttpAnswer> judged(PageAuthorizer.Verdict verdict) {
            return verdict.welcome() ? Optional.empty() : Optional.of(unknown(verdict.why() + "\n"));
        }

        private static HttpAnswer unknown(String why) {
            return HttpAnswer.text(
                            401,
                            why
                                    + "expected a Kubernetes token that may list nodehealths.gpuwarden.dev, as password or bearer:"
                                    + " kubectl create token NAME\n")
                    .with(
                            "WWW-Authenticate",
                            "Basic realm=\"gpuwarden: any name, and a Kubernetes token\", charset=\"UTF-8\"");
        }
    }
}
