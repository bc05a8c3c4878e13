package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.StaticHandler;
import java.util.List;
import java.util.Optional;

/** The handler of the page and its data, for permitted users. It changes nothing. */
public final class FleetPage implements HttpHandler {

    static final String API = "/api/v1/fleet";

    /** The number of threads. A request waits for the API server, and for earlier requests. */
    private static final int THREADS = 4;

    private final FleetView board;
    private final FleetAccess door;
    private final StaticHandler files = new StaticHandler(FleetPage.class);

    private FleetPage(FleetView board, FleetAccess door) {
        this.board = board;
        this.door = door;
        for (String script : List.of("main.js", "filter.js", "nodes.js", "around.js")) {
            files.script(FleetPage.class, script);
        }
    }

    /** Returns the handlers of the page and of its changes. */
    public static List<HttpHandler> of(FleetView board, KubeClient api, PageOptions options) {
        FleetAccess door = new FleetAccess(api, options);
        return List.of(new FleetChangesHandler(board, door), new FleetPage(board, door));
    }

    @Override
    public boolean has(String path) {
        return path.equals(API) || files.has(path);
    }

    @Override
    public int threads() {
        return THREADS;
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
        if (!request.path().equals(API)) {
            return files.answer(request);
        }
        Object tree = board.since(0).tree().orElseThrow();
        return HttpAnswer.flowing("application/json", out -> Output.writeJsonLine(tree, out));
    }
}
