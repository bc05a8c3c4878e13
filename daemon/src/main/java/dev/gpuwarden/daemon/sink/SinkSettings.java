package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the local sinks of events. */
public final class SinkSettings {

    private static final long FILE_BYTES = 64L << 20;

    @Option(
            names = "--sink.file",
            paramLabel = "FILE",
            description = "Append every event to this file, one JSON object a line; at 64 MiB it becomes FILE.1.")
    @Nullable Path file;

    @Option(
            names = "--sink.webhook",
            paramLabel = "URL",
            description = "POST every event to this http(s) address, as JSON.")
    @Nullable String webhook;

    @Option(
            names = "--sink.webhook-token-file",
            paramLabel = "FILE",
            description = "File with the bearer token for --sink.webhook; read for each request.")
    @Nullable Path webhookTokenFile;

    /** Starts a forwarder for each configured sink. */
    public List<Forwarder> start(String node, Outbox outbox, EventReader book) {
        List<Sink> sinks = new ArrayList<>();
        if (file != null) {
            sinks.add(new FileSink(file, FILE_BYTES));
        }
        if (webhook != null) {
            sinks.add(new WebhookSink(address(webhook), Optional.ofNullable(webhookTokenFile), node));
        }
        return sinks.stream().map(sink -> Forwarder.start(sink, outbox, book)).toList();
    }

    static URI address(String text) {
        try {
            URI uri = new URI(text);
            if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme())) && uri.getHost() != null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // The same message as for an address of another kind.
        }
        throw new UserError("--sink.webhook must be an address such as https://host/path, but was '" + text + "'");
    }
}
