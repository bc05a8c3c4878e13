package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.FaultReader;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoRoom;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Change;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.util.FieldReader;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The faults that one monitor of the whole cluster has reported for a node. They have their own place in its `NodeHealth`, so
 * that neither the node's reports nor another monitor removes them. The place is the only memory of them. Pure.
 */
final class MonitorFaults {

    static final int MOST_FAULTS = 64;
    /** For each of eight monitors; with the node's own faults they are less than etcd accepts. */
    static final long MOST_BYTES = 64 << 10;
    /** Length of the remark about faults without room. */
    private static final long LONGEST_REST = 64;

    /** Interval of the writes of unchanged faults, which show that they still hold. */
    static final Duration CONFIRM = Duration.ofMinutes(5);

    private MonitorFaults() {}

    /**
     * Returns the place after these events; empty if there is nothing to write.
     *
     * @param status status of the `NodeHealth`; empty if it has none
     */
    static Optional<Map<String, Object>> after(
            Optional<FieldReader> status, String node, String monitor, List<HealthEvent> events, Instant now)
            throws IOException, NoRoom {
        Instant reported = Instant.EPOCH;
        FaultTable table = new FaultTable();
        if (status.isPresent()) {
            for (FieldReader place : status.get().objects("monitors")) {
                if (place.text("name").equals(monitor)) {
                    reported = place.time("reported");
                    FaultReader.read(place.objects("faults"), node).forEach(table::restore);
                }
            }
        }
        boolean news = !table.faults().isEmpty() && reported.plus(CONFIRM).isBefore(now);
        for (HealthEvent event : events) {
            Change change = table.apply(event, 0, now);
            news |= change.effect() != Effect.REPEATED;
        }
        return news ? Optional.of(tree(node, monitor, table.faults(), now)) : Optional.empty();
    }

    /** Returns the faults that this monitor has reported for the node. */
    static List<Fault> reported(Optional<FieldReader> status, String node, String monitor) throws IOException {
        if (status.isPresent()) {
            for (FieldReader place : status.get().objects("monitors")) {
                if (place.text("name").equals(monitor)) {
                    return FaultReader.read(place.objects("faults"), node);
                }
            }
        }
        return List.of();
    }

    /**
     * Returns the place with exactly these faults. If some find no room, the message of the first one states their number.
     *
     * @param reported the present faults of the place
     * @return empty if the place has the same content, apart from the times of the last reports
     */
    static Optional<Map<String, Object>> exactly(
            String monitor, List<Fault> reported, List<Fault> wanted, Instant now) {
        List<Fault> shown = fitting(wanted);
        if (same(sorted(reported), shown)) {
            return Optional.empty();
        }
        return Optional.of(tree(monitor, shown, now));
    }

    /**
     * Returns the part of the status that a monitor owns: its place, and a state that exists as long as one monitor owns it. So
     * no monitor needs the places of the others.
     */
    static Map<String, Object> status(Map<String, Object> place) {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("monitors", List.of(place));
        if (JsonTrees.longNumber(place, "fatalCount") > 0) {
            status.put("monitorState", "Faulty");
        }
        return status;
    }

    private static List<Fault> fitting(List<Fault> wanted) {
        List<Fault> shown = sorted(wanted);
        int room = 0;
        long bytes = LONGEST_REST;
        while (room < Math.min(shown.size(), MOST_FAULTS)) {
            bytes += ShownText.bytes(FaultEntry.tree(shown.get(room))) + 1;
            if (bytes > MOST_BYTES) {
                break;
            }
            room++;
        }
        if (room == shown.size()) {
            return shown;
        }
        Fault first = shown.get(0);
        String rest = " (and " + (shown.size() - room) + " more, for which there is no room)";
        String message = ShownText.cut(first.cause().message(), FaultEntry.LONGEST_MESSAGE - rest.length()) + rest;
        List<Fault> fitting = new ArrayList<>(shown.subList(0, room));
        fitting.set(
                0,
                new Fault(
                        first.key(),
                        first.cause().toBuilder().message(message).build(),
                        first.sequence(),
                        first.since(),
                        first.lastSeen(),
                        first.occurrences()));
        return fitting;
    }

    private static List<Fault> sorted(List<Fault> faults) {
        return FaultEntry.of(faults).stream()
                .sorted(NodeHealthStatus.WORST_FIRST)
                .toList();
    }

    private static boolean same(List<Fault> reported, List<Fault> shown) {
        return reported.stream()
                .map(MonitorFaults::meaning)
                .toList()
                .equals(shown.stream().map(MonitorFaults::meaning).toList());
    }

    private static Map<String, Object> meaning(Fault fault) {
        Map<String, Object> row = FaultEntry.tree(fault);
        row.remove("lastSeen");
        row.remove("occurrences");
        return row;
    }

    private static Map<String, Object> tree(String node, String monitor, List<Fault> reported, Instant now)
            throws NoRoom {
        List<Fault> faults = sorted(reported);
        List<Map<String, Object>> rows = faults.stream().map(FaultEntry::tree).toList();
        if (rows.size() > MOST_FAULTS || ShownText.bytes(rows) > MOST_BYTES) {
            throw new NoRoom(node, monitor, rows.size());
        }
        return tree(monitor, faults, now);
    }

    private static Map<String, Object> tree(String monitor, List<Fault> faults, Instant now) {
        List<Map<String, Object>> rows = faults.stream().map(FaultEntry::tree).toList();
        List<Fault> acted = faults.stream().filter(NodeHealthStatus::actedOn).toList();
        Map<String, Object> place = new LinkedHashMap<>();
        place.put("name", monitor);
        place.put("reported", FaultEntry.second(now).toString());
        place.put("faultCount", rows.size());
        place.put(
                "fatalCount",
                acted.stream().filter(fault -> fault.cause().fatal()).count());
        if (!acted.isEmpty()) {
            place.put("worst", NodeHealthStatus.summary(acted.get(0), PartNames.NONE));
        }
        place.put("faults", rows);
        return place;
    }
}
