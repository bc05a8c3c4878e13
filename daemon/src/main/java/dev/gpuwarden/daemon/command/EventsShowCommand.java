package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.GetEventRequest;
import dev.gpuwarden.api.v1.GetEventResponse;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.daemon.recorder.SupportArchive;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows all data of one event. */
@Command(
        name = "show",
        description = "Show one event with its remedy and its flight recording.",
        exitCodeList = {
            "0:done",
            "1:no such event, or no permission",
            "2:wrong usage, or the archive cannot be written",
            "3:no daemon answers"
        })
final class EventsShowCommand extends ClientCommand {

    static final String SCHEMA = "gpuwarden.event/v1";

    private static final String NO_RECORDING = "nothing: the flight recorder records faults that are raised while the"
            + " daemon runs, and keeps the newest recordings only";

    /** The shortest prefix; a shorter one is more likely a mistake. */
    private static final int SHORTEST_BEGINNING = 4;

    /** The number of newest events that are searched for a prefix of an ID. */
    private static final int MOST_LOOKED_AT = 10_000;

    private final Clock clock;

    @Parameters(
            paramLabel = "ID",
            description = "The event's ID from 'gpuwarden events', or a prefix of it that no other event has.")
    String id = "";

    @Option(
            names = "--archive",
            paramLabel = "FILE",
            description = "Write all data of the event to this zip file, for a support case.")
    @Nullable Path archive;

    @Option(names = "--force", description = "Replace an existing archive.")
    boolean force;

    EventsShowCommand(Clock clock) {
        this.clock = clock;
    }

    @Override
    int ask(NodeClient node) {
        if (archive != null && !force && Files.exists(archive)) {
            throw new UserError("--archive: " + archive + " already exists; --force replaces it");
        }
        NodeServiceBlockingStub daemon = queries(node);
        GetEventResponse answer = get(node);
        StoredEvent stored = FaultCodec.fromWire(answer.getEvent());
        Optional<byte[]> bytes =
                answer.hasRecording() ? Optional.of(answer.getRecording().toByteArray()) : Optional.empty();
        Optional<EventsRecording> recording = bytes.flatMap(this::read);
        List<Check> checks =
                daemon.listChecks(ListChecksRequest.getDefaultInstance()).getChecksList();
        String asked = checks.stream()
                .filter(check -> check.getEventName().equals(stored.event().checkName()))
                .map(Check::getSummary)
                .findFirst()
                .orElse("");
        ClientGpus gpus = ClientGpus.ask(daemon);
        if (archive != null) {
            StatusReport status = StatusReport.of(
                    daemon.getNode(GetNodeRequest.getDefaultInstance()),
                    gpus.gpus(),
                    daemon.listFaults(ListFaultsRequest.getDefaultInstance()),
                    checks,
                    StatusCommand.storing(node));
            write(archive, SupportArchive.zip(stored, bytes, Map.of("status", status.tree())));
        }
        show(tree(stored, asked, recording), out -> {
            print(stored, asked, gpus, out);
            recording.ifPresentOrElse(
                    seen -> seen.print(clock.getZone(), out), () -> field(out, "recorded", NO_RECORDING));
        });
        return ExitCode.OK;
    }

    private GetEventResponse get(NodeClient node) {
        try {
            return get(node, id);
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() != Status.Code.NOT_FOUND || id.length() < SHORTEST_BEGINNING) {
                throw e;
            }
            List<String> meant = EventsCommand.last(
                            page -> queries(node).listEvents(page),
                            ListEventsRequest.getDefaultInstance(),
                            List.of(),
                            MOST_LOOKED_AT)
                    .events()
                    .stream()
                    .map(stored -> stored.event().id())
                    .filter(each -> each.startsWith(id))
                    .toList();
            if (meant.size() > 1) {
                throw new UserError(meant.size() + " events have an ID that begins with '" + Table.escape(id)
                        + "'; use a longer prefix");
            }
            if (meant.isEmpty()) {
                throw e;
            }
            return get(node, meant.get(0));
        }
    }

    private GetEventResponse get(NodeClient node, String whole) {
        return queries(node)
                .getEvent(GetEventRequest.newBuilder()
                        .setId(whole)
                        .setWithRecording(true)
                        .build());
    }

    private Optional<EventsRecording> read(byte[] gzip) {
        try {
            return Optional.of(EventsRecording.read(gzip));
        } catch (IOException e) {
            complain("the recording cannot be read: " + e.getMessage());
            return Optional.empty();
        }
    }

    private void write(Path file, byte[] zip) {
        OpenOption how = force ? StandardOpenOption.TRUNCATE_EXISTING : StandardOpenOption.CREATE_NEW;
        try {
            Files.write(file, zip, StandardOpenOption.CREATE, StandardOpenOption.WRITE, how);
        } catch (FileAlreadyExistsException e) {
            throw new UserError("--archive: " + file + " already exists; --force replaces it");
        } catch (IOException e) {
            throw new UserError("--archive: " + file + " could not be written: " + e);
        }
        complain(file + " has all data of the event; it names pods, processes and serial numbers");
    }

    private static Map<String, Object> tree(StoredEvent stored, String asked, Optional<EventsRecording> recording) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.putAll(EventView.tree(stored));
        tree.put("checkSummary", asked);
        recording.ifPresent(seen -> tree.put("recording", seen.tree()));
        return tree;
    }

    private void print(StoredEvent stored, String asked, ClientGpus gpus, PrintWriter out) {
        HealthEvent event = stored.event();
        field(out, "event", event.id());
        field(out, "time", ClientTimes.local(stored.received(), clock.getZone()));
        if (stored.occurrences() > 1) {
            field(
                    out,
                    "count",
                    stored.occurrences() + " times, last " + ClientTimes.local(stored.lastSeen(), clock.getZone()));
        }
        field(out, "status", EventsTable.word(event) + ", " + event.checkName() + code(event));
        field(out, "part", gpus.subject(event.entities()));
        event.entities().forEach(entity -> field(out, "", entity.type() + " " + entity.value()));
        field(out, "node", event.nodeName());
        field(out, "agent", event.agent());
        Reporter.nameOf(event).ifPresent(name -> field(out, "reporter", name));
        if (!asked.isEmpty()) {
            field(out, "check", asked);
        }
        field(out, "message", event.message());
        new TreeMap<>(event.metadata()).forEach((key, value) -> field(out, "", key + ": " + value));
        if (!event.healthy()) {
            field(out, "action", ActionText.name(event) + ": " + ActionText.advice(event));
        }
    }

    private static String code(HealthEvent event) {
        return event.errorCodes().isEmpty() ? "" : " " + String.join(", ", event.errorCodes());
    }

    private static void field(PrintWriter out, String name, String value) {
        out.println(name + " ".repeat(Math.max(1, 9 - name.length())) + Table.escape(value));
    }
}
