package dev.gpuwarden.core.event;

import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Finds the faults in the history that found no room in a {@link FaultTable} and are not over. The newest event of a
 * fault decides. It has the same bounds as that table; faults beyond them count as waiting and are evaluated once
 * there are fewer. Not thread-safe.
 */
public final class MissedFaults {

    /**
     * Metadata key of an event that was stored a second time when its faults found room. The value is the id of the
     * first event.
     */
    public static final String RAISED_AGAIN = "gpuwarden.dev/raised-again";

    private final FaultTable missed = new FaultTable();
    private final Set<Long> beyond = new HashSet<>();

    /**
     * Adds the next event of the history, oldest first: each healthy event, and each event of which a fault found no
     * room. Other events change nothing.
     */
    public void next(StoredEvent stored) {
        HealthEvent event = stored.event();
        FaultTable.Change change = missed.apply(event, stored.sequence(), stored.received());
        if (!event.healthy() && change.keys().size() < event.keys().size()) {
            beyond.add(stored.sequence());
        }
    }

    /**
     * Returns the faults that still wait for room, by the event that reported them: fatal ones first, then the
     * oldest.
     *
     * @param current the faults that found room
     */
    public List<Waiting> waiting(FaultTable current) {
        Map<Long, Waiting> waiting = new LinkedHashMap<>();
        missed.faults().stream()
                .filter(fault -> waits(fault, current))
                .sorted(Comparator.comparing((Fault fault) -> !fault.cause().fatal())
                        .thenComparingLong(Fault::sequence))
                .forEach(fault -> waiting.computeIfAbsent(
                                fault.sequence(),
                                sequence -> new Waiting(sequence, fault.cause(), new LinkedHashSet<>()))
                        .keys()
                        .add(fault.key()));
        return List.copyOf(waiting.values());
    }

    /** Returns the events of which a fault still waits. All other added events are settled. */
    public Set<Long> unsettled(FaultTable current) {
        Set<Long> events = new HashSet<>(beyond);
        waiting(current).forEach(each -> events.add(each.sequence()));
        return events;
    }

    private static boolean waits(Fault fault, FaultTable current) {
        return current.fault(fault.key())
                .map(now -> now.sequence() < fault.sequence() && !FaultTable.sameMeaning(now.cause(), fault.cause()))
                .orElse(true);
    }

    /**
     * The waiting faults of one event.
     *
     * @param sequence the event's number in the store
     */
    public record Waiting(long sequence, HealthEvent cause, Set<FaultKey> keys) {

        /** Returns the events that raise as many of these faults as have room now; empty if there is no room. */
        public List<HealthEvent> fitting(FaultTable current, Instant now) {
            if (keys.size() == cause.keys().size()
                    && current.preview(cause).keys().size() == keys.size()) {
                return List.of(again(cause.toBuilder(), now));
            }
            // Entities and codes multiply: one event for each code reports exactly the pairs that are meant.
            Map<String, List<FaultKey>> byCode = keys.stream()
                    .collect(Collectors.groupingBy(FaultKey::errorCode, LinkedHashMap::new, Collectors.toList()));
            List<HealthEvent> events = new ArrayList<>();
            for (List<FaultKey> ofCode : byCode.values()) {
                Set<FaultKey> fit = current.preview(narrowed(ofCode).build()).keys();
                if (!fit.isEmpty()) {
                    events.add(again(narrowed(List.copyOf(fit)), now));
                }
            }
            return events;
        }

        /** Returns the cause, limited to one code and these entities. */
        private HealthEvent.Builder narrowed(List<FaultKey> ofCode) {
            String code = ofCode.get(0).errorCode();
            return cause.toBuilder()
                    .errorCodes(code.isEmpty() ? List.of() : List.of(code))
                    .entities(ofCode.stream()
                            .map(FaultKey::entity)
                            .filter(entity -> !entity.equals(Entity.WHOLE))
                            .toList());
        }

        private HealthEvent again(HealthEvent.Builder event, Instant now) {
            Map<String, String> metadata = new LinkedHashMap<>(cause.metadata());
            metadata.putIfAbsent(RAISED_AGAIN, cause.id());
            event.id(new UUID(
                            now.toEpochMilli() << 16 | 0x7000, UUID.randomUUID().getLeastSignificantBits())
                    .toString());
            HealthEvent noted = event.metadata(metadata).build();
            // An event that is as big as it may be has no room for the note.
            return EventLimits.violation(noted).isEmpty()
                    ? noted
                    : event.metadata(cause.metadata()).build();
        }
    }
}
