package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The stream of changes of the fleet as server-sent events, for permitted users. */
final class FleetChangesHandler implements HttpHandler {

    private static final String PATH = FleetPage.API + "/news";

    /** The number of listeners; each keeps a thread. A further one waits until one of them ends, which takes seconds. */
    private static final int MOST_LISTENERS = 32;

    /** The pause between two changes of one page: a burst becomes one change. */
    private static final Duration CALM = Duration.ofMillis(200);

    private static final Duration LOOK = Duration.ofSeconds(2);

    private final FleetView board;
    private final FleetAccess door;

    FleetChangesHandler(FleetView board, FleetAccess door) {
        this.board = board;
        this.door = door;
    }

    @Override
    public boolean has(String path) {
        return path.equals(PATH);
    }

    @Override
    public int threads() {
        return MOST_LISTENERS;
    }

    @Override
    public boolean isGuarded() {
        return true;
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        Optional<HttpAnswer> refused = door.refused(request);
        if (refused.isPresent()) {
            return refused.get();
        }
        String last = request.header().apply("Last-Event-ID");
        long seen = last.matches("[0-9]{1,18}") ? Long.parseLong(last) : 0;
        return HttpAnswer.flowing("text/event-stream", out -> writeChanges(out, seen));
    }

    /** Writes changes for a limited time. The browser then connects again, and sends the last revision that it received. */
    private void writeChanges(OutputStream out, long seen) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(HttpAnswer.LONGEST_SECONDS);
        text(out, "retry: 200\n\n");
        while (System.nanoTime() < end) {
            FleetView.News news = board.since(seen);
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
            board.await(seen, LOOK);
        }
    }

    private static void text(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }
}
