package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows changes as they happen, until it is interrupted; survives restarts of the daemon. */
@Command(
        name = "watch",
        description = {
            "Show events, and changes of checks and GPUs, as they happen: a line each, until Ctrl-C.",
            "With conditions, only matching events. With -o json, one object per line."
        },
        exitCodeList = {
            "0:the reader of the output has gone",
            "1:no permission",
            "2:wrong usage or configuration",
            "3:no daemon answers"
        })
public final class WatchCommand extends ClientCommand {

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Clock clock;

    @Mixin
    EventsConditions conditions = new EventsConditions();

    /** @param clock clock with the zone in which times are shown */
    public WatchCommand(Clock clock) {
        this.clock = clock;
    }

    @Override
    public Integer call() {
        conditions.validate();
        Logging.install(Level.OFF);
        Path socket = client.required();
        WatchLines lines = new WatchLines(clock, conditions);
        boolean connected = false;
        while (true) {
            Status why;
            try (NodeClient node = NodeClient.of(socket)) {
                ClientGpus gpus = ClientGpus.ask(queries(node));
                List<Entity> names = conditions.gpu().map(gpus::named).orElse(List.of());
                lines.connected(gpus, names);
                complain(connected ? "the daemon is back" : "watching " + socket + "; Ctrl-C ends");
                connected = true;
                if (!follow(node, lines)) {
                    return ExitCode.OK;
                }
                why = Status.UNAVAILABLE;
            } catch (StatusRuntimeException e) {
                why = e.getStatus();
            }
            ClientFailure failure = ClientFailure.of(why, socket);
            if (!connected || !mayPass(why)) {
                complain(failure.message());
                return failure.exitCode();
            }
            if (lines.disconnected()) {
                complain("the daemon has gone; waiting for it");
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    private static boolean mayPass(Status why) {
        return switch (why.getCode()) {
            case UNAVAILABLE, UNKNOWN, CANCELLED, INTERNAL, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED -> true;
            default -> false;
        };
    }

    /** Returns whether the output still has a reader; throws when the daemon ends. */
    private boolean follow(NodeClient node, WatchLines lines) {
        WatchRequest.Builder request = WatchRequest.newBuilder().addKinds(WatchKind.WATCH_KIND_EVENTS);
        if (conditions.none()) {
            request.addKinds(WatchKind.WATCH_KIND_CHECKS).addKinds(WatchKind.WATCH_KIND_GPUS);
        }
        Iterator<WatchResponse> changes =
                NodeServiceGrpc.newBlockingStub(node.channel()).watch(request.build());
        while (changes.hasNext()) {
            WatchResponse change = changes.next();
            if (change.hasMissed()) {
                complain("too many changes at a time: " + change.getMissed().getChangeCount()
                        + " changes were dropped; events among them follow");
            }
            // Once the daemon reports new changes, earlier ones can be requested without a gap.
            boolean read = !change.hasState() || catchUp(node, lines);
            read = read && show(lines.of(change));
            if (!read) {
                return false;
            }
        }
        return true;
    }

    private boolean catchUp(NodeClient node, WatchLines lines) {
        ListEventsRequest.Builder request = conditions.request();
        if (!lines.since(request)) {
            return true;
        }
        String token = "";
        do {
            var page = queries(node).listEvents(request.setPageToken(token).build());
            for (var event : page.getEventsList()) {
                if (!show(lines.event(event))) {
                    return false;
                }
            }
            token = page.getNextPageToken();
        } while (!token.isEmpty());
        return true;
    }

    /** Returns whether the output still has a reader. */
    private boolean show(List<WatchLines.Line> all) {
        for (WatchLines.Line line : all) {
            switch (output.format()) {
                case json -> out().println(dev.gpuwarden.cli.Output.jsonLine(line.tree()));
                case yaml -> out().print("---\n" + dev.gpuwarden.cli.Output.yaml(line.tree()));
                case table -> out().println(line.text());
            }
        }
        return all.isEmpty() || !out().checkError();
    }

    @Override
    int ask(NodeClient node) {
        throw new IllegalStateException("a watch connects again and again");
    }
}
