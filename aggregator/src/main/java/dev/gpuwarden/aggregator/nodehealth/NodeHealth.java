package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The content of a resource `NodeHealth`.
 *
 * @param nodeUid UID of the Node that owns it; empty if none does, so no aggregator has created it
 * @param reported time of the node's last message; empty until it has reported all of its faults once
 * @param generation number of the node's last complete report; 0 if there is none
 * @param unlistedCount number of current faults without room in the resource
 * @param droppedEvents number of events that the node has ever lost
 * @param own faults that the node has reported, with causes as far as the resource keeps them. A message may be cut. The cause's
 *     time is the begin of its first fault. Its entities and codes are those of the faults that remain. All faults of one event
 *     have one cause
 * @param names display names of the parts in the node's faults; empty if the node's version reports none
 * @param ofMonitors faults that monitors of the whole cluster have reported for it, possibly before the node's first report;
 *     empty if no monitor ever reported one
 * @param gpus its GPUs with their reset units; empty if the node's version reports none
 */
public record NodeHealth(
        String node,
        Optional<String> nodeUid,
        Optional<Instant> reported,
        long generation,
        long unlistedCount,
        long droppedEvents,
        List<Fault> own,
        PartNames names,
        Optional<List<Fault>> ofMonitors,
        ReportedGpus gpus) {

    /**
     * The reverse of {@link NodeHealthStatus}. Pure. Ignores fields of later versions.
     *
     * @param resource the API server's JSON
     */
    public static NodeHealth read(Map<?, ?> resource) throws UnreadableNodeHealth {
        try {
            return parse(resource);
        } catch (IOException e) {
            throw new UnreadableNodeHealth(e);
        }
    }

    private static NodeHealth parse(Map<?, ?> resource) throws IOException {
        FieldReader metadata = metadata(resource);
        String node = metadata.text("name");
        Optional<String> uid = owner(metadata, node);
        Optional<FieldReader> content = new FieldReader("NodeHealth " + node + ": ", resource).object("status");
        if (content.isEmpty()) {
            return unreported(node, uid, Optional.empty());
        }
        FieldReader status = content.get();
        Optional<List<Fault>> ofMonitors = ofMonitors(status, node);
        if (!status.has("generation")) {
            return unreported(node, uid, ofMonitors);
        }
        long generation = status.count("generation");
        Instant reported = status.time("reported");
        List<FieldReader> rows = status.objects("faults");
        return new NodeHealth(
                node,
                uid,
                Optional.of(reported),
                generation,
                status.count("unlistedCount"),
                status.has("droppedEvents") ? status.count("droppedEvents") : 0,
                FaultReader.read(rows, node),
                FaultReader.names(rows),
                ofMonitors,
                NodeHealthStatus.gpus(status));
    }

    private static NodeHealth unreported(String node, Optional<String> uid, Optional<List<Fault>> ofMonitors) {
        return new NodeHealth(
                node, uid, Optional.empty(), 0, 0, 0, List.of(), PartNames.NONE, ofMonitors, ReportedGpus.NONE);
    }

    private static Optional<List<Fault>> ofMonitors(FieldReader status, String node) throws IOException {
        List<Fault> faults = new ArrayList<>();
        List<FieldReader> places = status.objects("monitors");
        for (FieldReader place : places) {
            faults.addAll(FaultReader.read(place.objects("faults"), node));
        }
        return places.isEmpty() ? Optional.empty() : Optional.of(faults);
    }

    private static FieldReader metadata(Map<?, ?> resource) throws IOException {
        return new FieldReader("NodeHealth: ", resource).objectOrEmpty("metadata");
    }

    private static Optional<String> owner(FieldReader metadata, String node) throws IOException {
        for (FieldReader owner : metadata.objects("ownerReferences")) {
            if (owner.text("kind").equals("Node") && owner.text("name").equals(node)) {
                return Optional.of(owner.text("uid"));
            }
        }
        return Optional.empty();
    }

    /** Returns the GPUs of the Node with this UID; none if the resource is another Node's, or cannot be read. */
    public static ReportedGpus gpusOf(String nodeUid, Map<?, ?> resource) {
        try {
            FieldReader metadata = metadata(resource);
            return owner(metadata, metadata.text("name")).equals(Optional.of(nodeUid))
                    ? gpus(resource)
                    : ReportedGpus.NONE;
        } catch (IOException e) {
            return ReportedGpus.NONE;
        }
    }

    private static ReportedGpus gpus(Map<?, ?> resource) {
        try {
            Optional<FieldReader> status = new FieldReader("NodeHealth: ", resource).object("status");
            return status.isEmpty() ? ReportedGpus.NONE : NodeHealthStatus.gpus(status.get());
        } catch (IOException e) {
            return ReportedGpus.NONE;
        }
    }

    /** Returns the GPUs that can only be reset together; unknown if the resource cannot be read. */
    public static ResetUnits units(Map<?, ?> resource) {
        return gpus(resource).units();
    }

    /** Returns all faults, the worst first. If the node and a monitor report the same fault, the worse one counts. */
    public List<Fault> faults() {
        if (ofMonitors.isEmpty()) {
            return own;
        }
        Map<FaultKey, Fault> byKey = new LinkedHashMap<>();
        Stream.concat(own.stream(), ofMonitors.get().stream())
                .sorted(NodeHealthStatus.WORST_FIRST)
                .forEach(fault -> byKey.putIfAbsent(fault.key(), fault));
        return List.copyOf(byKey.values());
    }

    /**
     * The complete state of a node at one moment, as the node reported it.
     *
     * @param bootId ID of its boot; empty if the daemon could not read it
     * @param version version of gpuwarden on it
     * @param reported time of its last message, by this program's clock
     * @param claim epoch of the stream that carried the report
     * @param generation number of the last complete report of its faults; 0 before the first
     * @param sequence number of the last event that is in the faults, or that is refused
     * @param droppedEvents number of events that the node has ever lost
     * @param gpus its GPUs; empty if the node's version reports none
     */
    public record ReportedState(
            String node,
            String bootId,
            String version,
            Instant reported,
            StreamEpoch claim,
            long generation,
            long sequence,
            long droppedEvents,
            List<Fault> faults,
            ReportedGpus gpus) {

        public ReportedState {
            faults = FaultEntry.ofAnyReporter(faults);
        }
    }

    /** The reverse of {@link FaultEntry#tree}: the rows of one event, one for each fault, become one event again. Pure. */
    static final class FaultReader {

        /**
         * The properties that all rows of one event share. An event without id and number has one row, because nothing links
         * two rows.
         */
        private record Origin(HealthEvent event, long sequence, boolean whole, boolean coded, int alone) {}

        private record Row(
                Origin origin, Entity entity, String code, Instant since, Instant lastSeen, long occurrences) {}

        private FaultReader() {}

        /** Returns the faults in the order of the rows. */
        static List<Fault> read(List<FieldReader> rows, String node) throws IOException {
            List<Row> all = new ArrayList<>();
            for (FieldReader row : rows) {
                all.add(row(row, node, all.size() + 1));
            }
            Map<Origin, List<Row>> ofOne = all.stream().collect(Collectors.groupingBy(Row::origin));
            Map<Origin, HealthEvent> causes = new HashMap<>();
            return all.stream()
                    .map(row -> fault(
                            row,
                            causes.computeIfAbsent(
                                    row.origin(), origin -> cause(origin, ofOne.getOrDefault(origin, List.of())))))
                    .toList();
        }

        /** Returns the display names of the GPUs of these rows. */
        static PartNames names(List<FieldReader> rows) throws IOException {
            Map<String, Set<Entity>> names = new LinkedHashMap<>();
            for (FieldReader row : rows) {
                if (row.has("gpu")) {
                    names.computeIfAbsent(row.text("gpu"), label -> new LinkedHashSet<>())
                            .add(new Entity(row.textOrEmpty("entityType"), row.textOrEmpty("entityValue")));
                }
            }
            return new PartNames(names.entrySet().stream()
                    .map(gpu -> new PartNames.Gpu(gpu.getKey(), gpu.getValue()))
                    .toList());
        }

        private static Row row(FieldReader row, String node, int number) throws IOException {
            HealthEvent event = event(row, node);
            if (event.checkName().isEmpty()) {
                return row.wrong("checkName", "a name");
            }
            if (row.has("entityType") != row.has("entityValue")) {
                return row.wrong("entityValue", "both entityType and entityValue, or neither");
            }
            Entity entity = new Entity(row.textOrEmpty("entityType"), row.textOrEmpty("entityValue"));
            String code = row.textOrEmpty("errorCode");
            long sequence = row.count("sequence");
            int alone = event.id().isEmpty() && sequence == 0 ? number : 0;
            return new Row(
                    new Origin(event, sequence, entity.equals(Entity.WHOLE), !code.isEmpty(), alone),
                    entity,
                    code,
                    row.time("since"),
                    row.time("lastSeen"),
                    row.count("occurrences"));
        }

        private static HealthEvent event(FieldReader row, String node) throws IOException {
            return HealthEvent.of(row.text("agent"), row.text("componentClass"), row.text("checkName"))
                    .id(row.textOrEmpty("eventID"))
                    .nodeName(node)
                    .fatal(row.flag("fatal"))
                    .message(row.textOrEmpty("message"))
                    .action(row.word("recommendedAction", RecommendedAction.class))
                    .customAction(row.textOrEmpty("customAction"))
                    .strategy(row.word("processingStrategy", ProcessingStrategy.class))
                    .quarantine(override(row, "quarantineOverride"))
                    .drain(override(row, "drainOverride"))
                    .metadata(row.texts("metadata"))
                    .build();
        }

        private static Overrides override(FieldReader row, String field) throws IOException {
            return switch (row.textOrEmpty(field)) {
                case "" -> Overrides.NONE;
                case "Force" -> new Overrides(true, false);
                case "Skip" -> new Overrides(false, true);
                default -> row.wrong(field, "Force or Skip");
            };
        }

        private static HealthEvent cause(Origin origin, List<Row> rows) {
            return origin.event().toBuilder()
                    .entities(
                            origin.whole()
                                    ? List.of()
                                    : rows.stream().map(Row::entity).distinct().toList())
                    .errorCodes(
                            origin.coded()
                                    ? rows.stream().map(Row::code).distinct().toList()
                                    : List.of())
                    .generated(rows.stream()
                            .map(Row::since)
                            .min(Instant::compareTo)
                            .orElse(Instant.EPOCH))
                    .build();
        }

        private static Fault fault(Row row, HealthEvent cause) {
            return new Fault(
                    new FaultKey(
                            cause.agent(),
                            cause.componentClass(),
                            cause.checkName(),
                            cause.nodeName(),
                            row.entity(),
                            row.code()),
                    cause,
                    row.origin().sequence(),
                    row.since(),
                    row.lastSeen(),
                    row.occurrences());
        }
    }
}
