package dev.gpuwarden.daemon.page;

import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryShare;
import dev.gpuwarden.daemon.view.DriverView;
import dev.gpuwarden.daemon.view.FaultView;
import dev.gpuwarden.daemon.view.GpuView;
import dev.gpuwarden.daemon.view.OwnerView;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The page's JSON below `/api/v1/`: `node`, `faults`, `memory`, `events`, `events/ID`, `events/ID/recording` and
 * `events/ID/archive`. {@link LongPollHandler} reports when `faults` and `events` have changed, `memoryMoment` of
 * `node` when `memory` has.
 */
public record ApiHandler(Sources sources, MemoryHistory history) implements HttpHandler {

    private static final String BASE = "/api/v1/";
    private static final Pattern EVENT = Pattern.compile("/api/v1/events/([^/]{1,128})(/recording|/archive)?");
    private static final int EVENTS = 200;
    /** Characters of a list's messages; a longer page is not readable. */
    private static final int MOST_CHARACTERS = 1 << 20;

    /** The approximate characters of an entry without its message. */
    private static final int CHARACTERS_EACH = 512;

    /** The sources of the answers. All of them are cached and none waits for a driver. */
    public interface Sources {
        String nodeName();

        NodeSnapshot node();

        /** Returns one entry for each GPU of the snapshot. */
        List<GpuMemoryUse> memory(NodeSnapshot node);

        /** Returns the VRAM watchdog's state by GPU; empty where it is off. */
        default List<VramStatus> vram() {
            return List.of();
        }

        CheckRegistry checks();

        EventReader events();

        /** Returns why events are not stored now; empty if they are. */
        Optional<String> notStored();

        /** Returns the recording of an event: JSON, gzip'd. */
        Optional<byte[]> recording(StoredEvent event);

        /** Returns the support archive of an event, one zip file. */
        byte[] archive(StoredEvent event);
    }

    @Override
    public boolean has(String path) {
        return path.startsWith(BASE);
    }

    @Override
    public HttpAnswer answer(Request request) {
        return switch (request.path().substring(BASE.length())) {
            case "node" -> json(node());
            case "faults" ->
                json(shortened(
                        "faults",
                        FaultView.trees(
                                sources.events().faults(),
                                PartNames.of(sources.node()),
                                sources.checks().damping())));
            case "memory" -> json(history.tree());
            case "events" -> json(events());
            default -> event(request.path());
        };
    }

    /** One thread: an answer may use megabytes while it is built. */
    @Override
    public Limits limits() {
        return Limits.READING.withThreads(1);
    }

    private static HttpAnswer json(Object tree) {
        return HttpAnswer.json(Output.json(tree));
    }

    private Map<String, Object> node() {
        NodeSnapshot node = sources.node();
        List<CheckResult> results = sources.checks().results();
        List<Fault> faults = sources.events().faults();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", "gpuwarden.page/v1");
        tree.put("node", sources.nodeName());
        tree.put("verdict", NodeVerdict.of(results, faults).label());
        tree.put("notStored", sources.notStored().orElse(""));
        tree.put("driver", DriverView.tree(node.driver()));
        tree.put("gpus", node.gpus().stream().map(GpuView::tree).toList());
        tree.put("checks", results.stream().map(CheckView::tree).toList());
        tree.put(
                "damping",
                sources.checks().damping().stream().map(CheckView::tree).toList());
        tree.put("memory", memory(node));
        tree.put("memoryMoment", history.newest().map(Instant::toString));
        tree.put("budgets", sources.vram().stream().map(this::budgets).toList());
        return tree;
    }

    private Map<String, Object> budgets(VramStatus status) {
        VramView view = VramView.of(status);
        Reading<Duration> floor = view.pressure()
                .map(now -> FloorForecast.untilFloor(history.free(view.index()), now.floor(), Instant.now()))
                .orElseGet(() -> Reading.absent(Absence.NO_DATA, 0, "the last decision had no basis"));
        Map<String, Object> tree = view.tree();
        tree.put("secondsToFloor", Values.tree(floor, Duration::toSeconds));
        return tree;
    }

    private List<Object> memory(NodeSnapshot node) {
        List<GpuMemoryUse> uses = sources.memory(node);
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < uses.size(); i++) {
            GpuMemoryUse use = uses.get(i);
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("index", node.gpus().get(i).identity().index());
            tree.put("unattributedBytes", Values.tree(use.unattributedBytes()));
            tree.put(
                    "holders",
                    use.uses() instanceof Reading.Present<?>
                            ? MemoryShare.byPod(use).stream()
                                    .map(ApiHandler::holder)
                                    .toList()
                            : Values.tree(use.uses()));
            all.add(tree);
        }
        return all;
    }

    private static Map<String, Object> holder(MemoryShare share) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", OwnerView.text(share.owner()));
        tree.put("usedBytes", Values.tree(share.bytes()));
        tree.put("processes", share.processes());
        return tree;
    }

    private Map<String, Object> events() {
        EventFilter newest = EventFilter.all().newestFirst(EVENTS);
        return shortened(
                "events",
                sources.events().events(newest).stream().map(EventView::tree).toList());
    }

    /** Returns the first entries of a list that fit into one answer, and the number of the others. */
    private static Map<String, Object> shortened(String name, List<Map<String, Object>> all) {
        int characters = 0;
        int kept = 0;
        for (Map<String, Object> one : all) {
            characters += CHARACTERS_EACH + String.valueOf(one.get("message")).length();
            if (characters > MOST_CHARACTERS) {
                break;
            }
            kept++;
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put(name, all.subList(0, kept));
        tree.put("leftOut", all.size() - kept);
        return tree;
    }

    private HttpAnswer event(String path) {
        Matcher asked = EVENT.matcher(path);
        Optional<StoredEvent> found = asked.matches() ? sources.events().event(asked.group(1)) : Optional.empty();
        if (found.isEmpty()) {
            return HttpAnswer.NOT_FOUND;
        }
        StoredEvent event = found.get();
        String part = asked.group(2) == null ? "" : asked.group(2);
        return switch (part) {
            case "/recording" ->
                sources.recording(event)
                        .map(bytes ->
                                HttpAnswer.of(200, "application/json", bytes).with("Content-Encoding", "gzip"))
                        .orElse(HttpAnswer.NOT_FOUND);
            case "/archive" -> HttpAnswer.of(200, "application/zip", sources.archive(event));
            default -> json(EventView.tree(event));
        };
    }
}
