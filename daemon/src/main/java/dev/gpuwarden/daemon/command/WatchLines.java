package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.CheckResult;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.NodeState;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.health.Finding;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The lines that a watch prints: changes only, each once, across restarts of the daemon. */
final class WatchLines {

    private final Clock clock;
    private final EventsConditions conditions;
    private final Map<String, String> states = new HashMap<>();
    private ClientGpus gpus = new ClientGpus(List.of());
    private List<Entity> names = List.of();
    /** The last event that was received, whether or not it matched. */
    private long sequence;

    private Instant lastSeen;
    private boolean connected;
    private boolean known;

    /** @param tree the change for JSON, see docs/reference/events-json.md */
    record Line(String text, Map<String, Object> tree) {}

    WatchLines(Clock clock, EventsConditions conditions) {
        this.clock = clock;
        this.conditions = conditions;
        this.lastSeen = clock.instant();
    }

    /** @param gpuNames names of the selected GPU */
    void connected(ClientGpus all, List<Entity> gpuNames) {
        gpus = all;
        names = gpuNames;
        connected = true;
    }

    /** Returns whether the connection existed until now. */
    boolean disconnected() {
        boolean was = connected;
        connected = false;
        return was;
    }

    /** Sets the request for events since the last one. Returns whether there was a connection before. */
    boolean since(ListEventsRequest.Builder request) {
        boolean before = known;
        known = true;
        request.getFromBuilder().setSeconds(lastSeen.getEpochSecond()).setNanos(lastSeen.getNano());
        return before;
    }

    List<Line> of(WatchResponse change) {
        return switch (change.getChangeCase()) {
            case STATE -> state(change.getState());
            case EVENT -> event(change.getEvent());
            case CHECK -> check(change.getCheck()).stream().toList();
            case GPU -> gpu(change.getGpu()).stream().toList();
            // Faults are in the events; other changes of a newer daemon are not for this version.
            case FAULTS, MISSED, CHANGE_NOT_SET -> List.of();
        };
    }

    private List<Line> state(NodeState state) {
        List<Line> lines = new ArrayList<>();
        state.getGpusList().forEach(gpu -> gpu(gpu).ifPresent(lines::add));
        state.getChecksList().forEach(check -> check(check).ifPresent(lines::add));
        return lines;
    }

    /** Returns the lines of an event. An event that was printed before is left out, unless its count rose. */
    List<Line> event(dev.gpuwarden.api.v1.StoredEvent wire) {
        StoredEvent stored = FaultCodec.fromWire(wire);
        boolean printed = stored.sequence() <= sequence && !stored.lastSeen().isAfter(lastSeen);
        sequence = Math.max(sequence, stored.sequence());
        lastSeen = stored.lastSeen().isAfter(lastSeen) ? stored.lastSeen() : lastSeen;
        HealthEvent event = stored.event();
        if (printed || !conditions.hold(event, names)) {
            return List.of();
        }
        List<String> words = new ArrayList<>(List.of(
                EventsTable.word(event).toUpperCase(Locale.ROOT),
                event.checkName(),
                String.join(",", event.errorCodes()),
                gpus.subject(event.entities()),
                event.healthy() ? "" : ActionText.name(event),
                stored.occurrences() > 1 ? stored.occurrences() + "x" : "",
                event.id(),
                EventsTable.shortened(event.message())));
        words.removeIf(String::isEmpty);
        Map<String, Object> tree = tree("event", stored.lastSeen());
        tree.putAll(EventView.tree(stored));
        return List.of(new Line(line(stored.lastSeen(), words), tree));
    }

    private Optional<Line> check(CheckResult wire) {
        dev.gpuwarden.core.check.CheckResult result =
                CheckCodec.fromWire(wire, dev.gpuwarden.core.check.CheckInfo.of(wire.getCheckId(), "", ""));
        String outcome = result.outcome().name();
        String before = states.put("check " + wire.getCheckId(), outcome);
        if (before == null || before.equals(outcome)) {
            return Optional.empty();
        }
        String found = result.findings().stream()
                .filter(finding -> finding.outcome() == result.outcome())
                .map(Finding::message)
                .limit(3)
                .collect(Collectors.joining("; "));
        Map<String, Object> tree = tree("check", result.at());
        tree.put("check", wire.getCheckId());
        tree.put("before", before.toLowerCase(Locale.ROOT));
        tree.put("outcome", outcome.toLowerCase(Locale.ROOT));
        tree.put("message", found);
        List<String> words = List.of(
                "check",
                wire.getCheckId(),
                before.toLowerCase(Locale.ROOT) + " -> " + outcome.toLowerCase(Locale.ROOT),
                EventsTable.shortened(found));
        return Optional.of(new Line(line(result.at(), words), tree));
    }

    private Optional<Line> gpu(Gpu gpu) {
        String state = StatusReport.state(gpu);
        String name = gpu.getUuid().hasValue()
                ? gpu.getUuid().getValue()
                : gpu.getPciAddress().getValue() + " " + gpu.getIndex();
        String before = states.put("gpu " + name, state);
        if (before == null || before.equals(state)) {
            return Optional.empty();
        }
        Instant now = clock.instant();
        Map<String, Object> tree = tree("gpu", now);
        tree.put("index", gpu.getIndex());
        tree.put("uuid", gpu.getUuid().getValue());
        tree.put("pci", gpu.getPciAddress().getValue());
        tree.put("before", before);
        tree.put("state", state);
        tree.put("detail", gpu.getStateDetail());
        List<String> words = List.of("GPU " + gpu.getIndex(), before + " -> " + state, gpu.getStateDetail());
        return Optional.of(new Line(line(now, words), tree));
    }

    private static Map<String, Object> tree(String kind, Instant time) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("kind", kind);
        tree.put("time", time.toString());
        return tree;
    }

    private String line(Instant time, List<String> words) {
        return ClientTimes.local(time, clock.getZone()) + "  "
                + Table.escape(String.join("  ", words)).stripTrailing();
    }
}
