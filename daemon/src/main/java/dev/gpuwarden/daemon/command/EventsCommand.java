package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListEventsResponse;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.grpc.NodeClient;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the history of events. */
@Command(
        name = "events",
        description = "Show the health events that this node's daemon stored, the newest last.",
        exitCodeList = {
            "0:success, even without events",
            "1:no permission",
            "2:wrong usage or configuration",
            "3:no daemon answers"
        })
public final class EventsCommand extends ClientCommand {

    static final String SCHEMA = "gpuwarden.events/v1";

    /** The bound on events, which are kept in memory to be shown in reverse order. */
    private static final int MOST = 10_000;

    private static final int PAGE = 1000;

    private final Clock clock;

    @Mixin
    EventsConditions conditions = new EventsConditions();

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "From this time on: an age (1h30m) or a time (14:05, 2026-11-21, 2026-11-21T14:05:00Z).")
    @Nullable String since;

    @Option(names = "--until", paramLabel = "TIME", description = "Before this time.")
    @Nullable String until;

    @Option(
            names = "--limit",
            defaultValue = "100",
            paramLabel = "N",
            description = "Number of events, the newest (default: ${DEFAULT-VALUE}).")
    int limit = 100;

    @Option(names = "--newest-first", description = "Show the newest first.")
    boolean newestFirst;

    /** @param clock clock with the zone in which times are shown */
    public EventsCommand(Clock clock) {
        this.clock = clock;
    }

    /** Returns the command with its subcommands. */
    public static CommandLine with(Clock clock) {
        return new CommandLine(new EventsCommand(clock)).addSubcommand(new EventsShowCommand(clock));
    }

    @Override
    int ask(NodeClient node) {
        ListEventsRequest request = request();
        NodeServiceBlockingStub daemon = queries(node);
        ClientGpus gpus = ClientGpus.ask(daemon);
        List<Entity> names = conditions.gpu().map(gpus::named).orElse(List.of());
        // Each page has a deadline of its own.
        Answer answer = last(page -> queries(node).listEvents(page), request, names, limit);
        List<StoredEvent> events = new ArrayList<>(answer.events());
        if (newestFirst) {
            Collections.reverse(events);
        }
        show(tree(events, answer.more()), out -> {
            if (events.isEmpty()) {
                out.println(asksForAll() ? "no events" : "no event matches these conditions");
            } else {
                EventsTable.print(events, gpus, clock.getZone(), out);
            }
        });
        if (answer.more()) {
            complain("there are older events: --limit shows more than " + limit);
        }
        return ExitCode.OK;
    }

    private boolean asksForAll() {
        return conditions.none() && since == null && until == null;
    }

    private ListEventsRequest request() {
        conditions.validate();
        if (limit < 1 || limit > MOST) {
            throw new UserError("--limit: expected 1 to " + MOST + ", but was " + limit
                    + (limit > MOST ? "; --until shows older events" : ""));
        }
        ListEventsRequest.Builder request = conditions.request();
        if (since != null) {
            Instant from = ClientTimes.parse("--since", since, clock);
            request.getFromBuilder().setSeconds(from.getEpochSecond()).setNanos(from.getNano());
        }
        if (until != null) {
            Instant end = ClientTimes.parse("--until", until, clock);
            request.getUntilBuilder().setSeconds(end.getEpochSecond()).setNanos(end.getNano());
        }
        return request.build();
    }

    private static Map<String, Object> tree(List<StoredEvent> events, boolean more) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("more", more);
        tree.put("events", events.stream().map(EventView::tree).toList());
        return tree;
    }

    /**
     * The last events.
     *
     * @param events oldest first
     * @param more whether older events match the conditions
     */
    record Answer(List<StoredEvent> events, boolean more) {}

    /**
     * @param daemon returns one page
     * @param names names of the selected GPU, one of which an event must carry; empty for all events
     */
    static Answer last(
            Function<ListEventsRequest, ListEventsResponse> daemon,
            ListEventsRequest conditions,
            List<Entity> names,
            int limit) {
        if (names.isEmpty()) {
            return cut(last(daemon, conditions, limit), limit);
        }
        // A request takes one name. The last of all are among the last of each.
        TreeMap<Long, StoredEvent> all = new TreeMap<>(Comparator.reverseOrder());
        for (Entity name : names) {
            ListEventsRequest one =
                    conditions.toBuilder().setEntityValue(name.value()).build();
            last(daemon, one, limit).forEach(event -> all.put(event.sequence(), event));
        }
        return cut(List.copyOf(all.values()), limit);
    }

    /** Returns one event more than the limit if there are more. */
    private static List<StoredEvent> last(
            Function<ListEventsRequest, ListEventsResponse> daemon, ListEventsRequest conditions, int limit) {
        List<StoredEvent> events = new ArrayList<>();
        String token = "";
        do {
            ListEventsResponse page = daemon.apply(conditions.toBuilder()
                    .setNewestFirst(true)
                    .setPageSize(Math.min(PAGE, limit + 1 - events.size()))
                    .setPageToken(token)
                    .build());
            page.getEventsList().forEach(event -> events.add(FaultCodec.fromWire(event)));
            token = page.getNextPageToken();
        } while (!token.isEmpty() && events.size() <= limit);
        return events;
    }

    private static Answer cut(List<StoredEvent> newestFirst, int limit) {
        List<StoredEvent> events = new ArrayList<>(newestFirst.subList(0, Math.min(limit, newestFirst.size())));
        java.util.Collections.reverse(events);
        return new Answer(List.copyOf(events), newestFirst.size() > limit);
    }
}
