package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.event.StoredEvent;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A webhook: an HTTP server that takes events as `POST` of JSON: `{"node": NAME, "events": [...]}`. Any 2xx
 * acknowledges them all. An event may arrive twice with the same id.
 */
final class WebhookSink implements Sink {

    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final URI target;
    private final Optional<Path> tokenFile;
    private final String node;
    private final HttpClient client;

    /** @param tokenFile holds a bearer token; read for each request, since tokens are renewed */
    WebhookSink(URI target, Optional<Path> tokenFile, String node) {
        this.target = target;
        this.tokenFile = tokenFile;
        this.node = node;
        this.client = HttpClient.newBuilder()
                .connectTimeout(PATIENCE)
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    @Override
    public String name() {
        return "webhook";
    }

    @Override
    public void send(List<StoredEvent> events) throws IOException, InterruptedException {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("schema", "gpuwarden.webhook/v1");
        body.put("node", node);
        body.put("events", events.stream().map(EventView::tree).toList());
        HttpRequest.Builder request = HttpRequest.newBuilder(target)
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(Output.jsonLine(body)));
        if (tokenFile.isPresent()) {
            request.header(
                    "Authorization",
                    "Bearer " + Files.readString(tokenFile.get()).trim());
        }
        judge(client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode());
    }

    /** Returns for an accepted request, and throws for any other answer. */
    static void judge(int status) throws IOException {
        if (status >= 200 && status < 300) {
            return;
        }
        String answer = "the server answers " + status;
        // 400, 413 and 422 refuse the content; all others concern access, time or place, which may change.
        if (status == 400 || status == 413 || status == 422) {
            throw new RefusedException(answer);
        }
        throw new IOException(answer);
    }
}
