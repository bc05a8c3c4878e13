package dev.gpuwarden.aggregator.page;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.command.FleetBoard;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;
import dev.gpuwarden.cli.web.StaticSite;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The page, what it shows, and what is new of that, for who may see it. Changes nothing. */
public final class FleetSite implements Site {

    private static final String API = "/api/v1/fleet";
    private static final String NEWS = API + "/news";

    /** Each keeps a thread. */
    private static final int MOST_LISTENERS = 32;

    /** As often a screen is told at most: a burst is one change of it. */
    private static final Duration CALM = Duration.ofMillis(200);

    private static final Duration LOOK = Duration.ofSeconds(2);

    private final FleetBoard board;
    private final Visitors visitors;
    private final PageOptions options;
    private final Set<InetAddress> proxies;
    private final Semaphore listeners = new Semaphore(MOST_LISTENERS);
    private final StaticSite files = new StaticSite(FleetSite.class);

    public FleetSite(FleetBoard board, ClusterApi api, PageOptions options) {
        this.board = board;
        this.visitors = new Visitors(api, System::nanoTime);
        this.options = options;
        this.proxies = options.trusted();
        for (String script : List.of("main.js", "filter.js", "nodes.js", "around.js")) {
            files.script(FleetSite.class, script);
        }
    }

    @Override
    public Optional<Answer> answer(Request request) throws InterruptedException {
        boolean data = request.path().equals(API) || request.path().equals(NEWS);
        Optional<Answer> file = data ? Optional.empty() : files.answer(request);
        if (!data && file.isEmpty()) {
            return Optional.empty();
        }
        Optional<Answer> refused = refused(request);
        if (refused.isPresent()) {
            return refused;
        }
        if (file.isPresent()) {
            return file;
        }
        if (request.path().equals(API)) {
            return Optional.of(Answer.json(Output.jsonLine(board.since(0).tree().orElseThrow())));
        }
        return Optional.of(news(request));
    }

    // ---- who ----

    private Optional<Answer> refused(Request request) throws InterruptedException {
        boolean near = request.from().isLoopbackAddress();
        boolean proxy = proxies.isEmpty() ? near : proxies.contains(request.from());
        try {
            String user = options.userHeader.isEmpty() ? "" : request.header().apply(options.userHeader);
            if (proxy && !user.isEmpty()) {
                return judged(visitors.user(user, groups(request)));
            }
            if (!near && !proxy) {
                return Optional.of(Answer.text(
                        403,
                        "this page is not shown over an open network: kubectl port-forward to a pod of the aggregator,"
                                + " or put a proxy before it (--page.proxy)\n"));
            }
            String token = token(request.header().apply("Authorization"));
            return token.isEmpty() ? Optional.of(unknown("")) : judged(visitors.token(token));
        } catch (ClusterException e) {
            return Optional.of(Answer.text(503, "the cluster cannot be asked who you are: " + e.getMessage() + "\n"));
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

    private static Optional<Answer> judged(Visitors.Verdict verdict) {
        return verdict.welcome() ? Optional.empty() : Optional.of(unknown(verdict.why() + "\n"));
    }

    private static Answer unknown(String why) {
        return Answer.text(
                        401,
                        why
                                + "expected a Kubernetes token that may list nodehealths.gpuwarden.dev, as password or bearer:"
                                + " kubectl create token NAME\n")
                .with(
                        "WWW-Authenticate",
                        "Basic realm=\"gpuwarden: any name, and a Kubernetes token\", charset=\"UTF-8\"");
    }

    /** A bearer's, or the password of any name: browsers ask for that by themselves. */
    private static String token(String authorization) {
        if (authorization.startsWith("Bearer ")) {
            return authorization.substring(7).strip();
        }
        if (!authorization.startsWith("Basic ")) {
            return "";
        }
        try {
            byte[] decoded =
                    Base64.getDecoder().decode(authorization.substring(6).strip());
            String both = new String(decoded, StandardCharsets.UTF_8);
            return both.substring(both.indexOf(':') + 1);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    // ---- what ----

    private Answer news(Request request) {
        String last = request.header().apply("Last-Event-ID");
        long seen = last.matches("[0-9]{1,18}") ? Long.parseLong(last) : 0;
        return Answer.flowing("text/event-stream", out -> {
            if (!listeners.tryAcquire()) {
                out.write("retry: 10000\n\n".getBytes(StandardCharsets.UTF_8));
                return;
            }
            try {
                tell(out, seen);
            } finally {
                listeners.release();
            }
        });
    }

    /** Ends after a while: the browser comes again by itself, and says what it has seen. */
    private void tell(OutputStream out, long seen) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Answer.LONGEST_SECONDS);
        out.write("retry: 200\n\n".getBytes(StandardCharsets.UTF_8));
        while (System.nanoTime() < end) {
            FleetBoard.News news = board.since(seen);
            if (news.tree().isPresent()) {
                String event = "id: " + news.revision() + "\ndata: "
                        + Output.jsonLine(news.tree().get()) + "\n\n";
                out.write(event.getBytes(StandardCharsets.UTF_8));
                seen = news.revision();
            } else {
                // Whoever has left is noticed.
                out.write(":\n\n".getBytes(StandardCharsets.UTF_8));
            }
            out.flush();
            TimeUnit.MILLISECONDS.sleep(CALM.toMillis());
            board.await(seen, LOOK);
        }
    }
}
